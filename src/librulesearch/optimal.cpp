#include "librulesearch/optimal.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>

#include "librulesearch/augmentations.hpp"
#include "librulesearch/beam.hpp"
#include "librulesearch/control.hpp"
#include "librulesearch/incumbent.hpp"
#include "librulesearch/ordered_table.hpp"
#include "librulesearch/workers.hpp"

namespace rulesearch {
namespace {

// Sums are exact, so a bound is off by a few roundings at most: far below this.
constexpr double rounding_slack = 1e-12;

/// One more column for a query, with what is known about the augmented query.
struct Augmentation {
    std::uint32_t index;
    std::uint32_t critical_index;
    double bound;
};

using AugmentationList = std::vector<Augmentation>;

/// A query still to be augmented, by members of a list it shares with its siblings.
struct Node {
    double bound;
    std::vector<std::uint32_t> query;  // positions, ascending
    std::shared_ptr<const AugmentationList> augmentations;

    /// Heap order: the largest bound on top, of equal ones the first query.
    bool operator<(const Node& other) const {
        return bound != other.bound ? bound < other.bound : query > other.query;
    }
};

struct Offer {
    double value;
    std::vector<std::uint32_t> query;
};

/// What the expansion of one node yields.
struct Expansion {
    std::vector<Node> children;
    std::vector<Offer> offers;
    Counters counters;
    double relaxed_bound = 0.0;  // largest bound given up because of the approximation factor
    bool is_complete = false;
};

/// Decides whether a bound is good for nothing.
class Pruning {
  public:
    /// `incumbent_size`: conditions of the incumbent if longer ties are to be given up, else
    /// nothing.
    Pruning(double incumbent_value, double approximation_factor,
            std::optional<std::size_t> incumbent_size)
        : threshold_(approximation_factor < 1.0 ? incumbent_value / approximation_factor
                                                : incumbent_value * (1.0 - rounding_slack)),
          incumbent_value_(incumbent_value),
          incumbent_size_(incumbent_size.value_or(std::numeric_limits<std::size_t>::max())),
          is_relaxed_(approximation_factor < 1.0) {}

    /// No query under the bound with at least that many conditions can replace the incumbent, or
    /// gains enough to be asked for.
    bool operator()(double bound, std::size_t n_conditions) const {
        if (is_relaxed_ ? bound <= threshold_ : bound < threshold_) return true;
        return bound <= incumbent_value_ && n_conditions > incumbent_size_;
    }

    /// A query of this value is at least as good as the incumbent.
    bool is_competitive(double value) const { return value >= incumbent_value_; }

    /// What a pruned bound leaves unproven.
    double relaxation(double bound) const { return bound > incumbent_value_ ? bound : 0.0; }

  private:
    double threshold_;
    double incumbent_value_;
    std::size_t incumbent_size_;
    bool is_relaxed_;
};

/// Whether equivalent queries can stand for each other. They may differ in length, so that under a
/// limit on the length only those of equal length can.
bool has_core_queries(const Limits& limits, std::size_t n_columns) {
    return limits.max_conditions >= n_columns;
}

/// Expands nodes; one per worker, so that its buffers are its own.
class Expander {
  public:
    Expander(const Problem& problem, const OrderedTable& table, const Limits& limits, Bound bound)
        : problem_(problem),
          table_(table),
          limits_(limits),
          bound_(bound),
          classes_(table),
          augmented_(table.n_columns()),
          has_core_queries_(has_core_queries(limits, table.n_columns())) {}

    Expansion expand(const Node& node, const Pruning& can_prune, const Interrupt& interrupt) {
        Expansion out;
        collect_rows(node);
        const BitSet candidates = select_candidates(node, can_prune, out);
        if (candidates.empty()) {
            out.is_complete = true;
            return out;
        }
        classes_.assign(problem_, rows_, candidates, bound_);
        if (const double bound = classes_.bound(problem_.l2_regularization);
            can_prune(bound, n_conditions(node))) {
            out.counters.bound_propagated += candidates.size();
            out.relaxed_bound = std::max(out.relaxed_bound, can_prune.relaxation(bound));
            out.is_complete = true;
            return out;
        }
        if (!augmented_.evaluate(classes_, candidates, problem_.l2_regularization, interrupt))
            return out;
        out.counters.n_evaluations += candidates.size();
        make_offers(node, candidates, can_prune, out);
        if (n_conditions(node) < limits_.max_conditions) branch(node, can_prune, out);
        out.is_complete = true;
        return out;
    }

  private:
    /// Number of conditions of the node's augmentations.
    static std::size_t n_conditions(const Node& node) { return node.query.size() + 1; }

    /// Sets: the rows of the query and the positions it implies.
    void collect_rows(const Node& node) {
        extent_ = BitSet(table_.n_rows(), true);
        for (const std::uint32_t position : node.query) extent_ &= table_.extent(position);
        rows_.clear();
        implied_ = BitSet(table_.n_columns(), true);
        extent_.for_each([&](std::size_t row) {
            rows_.push_back(static_cast<std::uint32_t>(row));
            implied_.intersect(table_.signature(row));
        });
    }

    /// Augmentations that are not pruned by what is already known; sets `open_`.
    BitSet select_candidates(const Node& node, const Pruning& can_prune, Expansion& out) {
        const std::int64_t tail_index = node.query.empty() ? -1 : std::int64_t{node.query.back()};
        BitSet candidates(table_.n_columns());
        open_.clear();
        for (const Augmentation& augmentation : *node.augmentations) {
            if (augmentation.index <= tail_index) continue;
            if (implied_.contains(augmentation.index)) {
                ++out.counters.equivalence_immediate;
            } else if (can_prune(augmentation.bound, n_conditions(node))) {
                ++out.counters.bound_propagated;
                out.relaxed_bound =
                    std::max(out.relaxed_bound, can_prune.relaxation(augmentation.bound));
            } else if (has_core_queries_ && augmentation.critical_index < tail_index) {
                ++out.counters.equivalence_propagated;
            } else {
                candidates.insert(augmentation.index);
                open_.push_back(augmentation);
            }
        }
        return candidates;
    }

    /// Offers the best augmentations if they are as good as the incumbent.
    void make_offers(const Node& node, const BitSet& candidates, const Pruning& can_prune,
                     Expansion& out) const {
        double best = 0.0;
        const auto value = [&](std::size_t position) {
            const Statistics& sums = augmented_.sums(position);
            return sums.coverage < limits_.min_coverage ? 0.0 : problem_.value(sums);
        };
        candidates.for_each([&](std::size_t position) { best = std::max(best, value(position)); });
        if (best == 0.0 || !can_prune.is_competitive(best)) return;
        candidates.for_each([&](std::size_t position) {
            if (value(position) < best) return;
            out.offers.push_back({best, node.query});
            out.offers.back().query.push_back(static_cast<std::uint32_t>(position));
        });
    }

    void branch(const Node& node, const Pruning& can_prune, Expansion& out) const {
        auto survivors = std::make_shared<AugmentationList>();
        for (const Augmentation& augmentation : open_) {
            const double bound = augmented_.bound(augmentation.index);
            if (can_prune(bound, n_conditions(node) + 1)) {
                ++out.counters.bound_immediate;
                out.relaxed_bound = std::max(out.relaxed_bound, can_prune.relaxation(bound));
            } else if (augmented_.sums(augmentation.index).coverage >= limits_.min_coverage) {
                survivors->push_back({augmentation.index, critical_index(augmentation), bound});
            }
        }
        if (!has_core_queries_) out.counters.equivalence_immediate += drop_twins(*survivors);
        for (const Augmentation& augmentation : *survivors) {
            if (augmentation.critical_index != augmentation.index) {
                ++out.counters.equivalence_immediate;
            } else if (augmentation.index != survivors->back().index) {
                out.children.push_back(
                    {std::min(augmentation.bound, node.bound), node.query, survivors});
                out.children.back().query.push_back(augmentation.index);
            }
        }
    }

    /// Keeps the first of augmentations that cover the same rows; returns how many went.
    ///
    /// Exchanging a column for an earlier one with the same rows under this query changes neither
    /// the extent nor the length of a refinement, so that of each extent's shortest queries the
    /// first one in search order never contains a later twin.
    std::size_t drop_twins(AugmentationList& augmentations) const {
        const auto is_less = [&](const Augmentation& a, const Augmentation& b) {
            const Statistics &s = augmented_.sums(a.index), &t = augmented_.sums(b.index);
            return std::tie(s.gradient, s.hessian, s.coverage) <
                   std::tie(t.gradient, t.hessian, t.coverage);
        };
        AugmentationList sorted = augmentations;
        std::stable_sort(sorted.begin(), sorted.end(), is_less);
        BitSet twins(table_.n_columns());
        for (std::size_t first = 0, i = 1; i < sorted.size(); ++i) {
            if (is_less(sorted[first], sorted[i])) first = i;
            for (std::size_t k = first; k < i; ++k) {
                if (twins.contains(sorted[k].index)) continue;
                if (are_equal_within(extent_, table_.extent(sorted[k].index),
                                     table_.extent(sorted[i].index))) {
                    twins.insert(sorted[i].index);
                    break;
                }
            }
        }
        return std::erase_if(augmentations,
                             [&](const Augmentation& a) { return twins.contains(a.index); });
    }

    std::uint32_t critical_index(const Augmentation& augmentation) const {
        if (!has_core_queries_) return augmentation.index;
        const bool is_known_not_core = augmentation.critical_index < augmentation.index &&
                                       !implied_.contains(augmentation.critical_index);
        return is_known_not_core ? augmentation.critical_index
                                 : static_cast<std::uint32_t>(
                                       classes_.critical_index(augmentation.index, implied_));
    }

    const Problem& problem_;
    const OrderedTable& table_;
    const Limits& limits_;
    Bound bound_;
    RowClasses classes_;
    AugmentationTable augmented_;
    bool has_core_queries_;
    BitSet extent_;
    std::vector<std::uint32_t> rows_;
    BitSet implied_;
    AugmentationList open_;
};

std::vector<std::size_t> identity_order(std::size_t size) {
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
}

class BranchAndBound {
  public:
    BranchAndBound(const Problem& problem, const Limits& limits, const OptimalOptions& options)
        : problem_(problem),
          limits_(limits),
          options_(options),
          control_(limits),
          workers_(options.n_workers),
          is_limited_(!has_core_queries(limits, problem.propositions.n_columns())),
          incumbent_(problem.propositions) {}

    Result solve() {
        incumbent_.offer(problem_.value(problem_.total()), {});
        const OrderedTable table(problem_.propositions, start());
        if (limits_.max_conditions > 0) boundary_.push(root(table));
        std::vector<Expander> expanders(options_.n_workers,
                                        Expander(problem_, table, limits_, options_.bound));
        while (!boundary_.empty() && !control_.is_stopped()) {
            if (can_prune(boundary_.top())) {
                give_up_rest();
            } else if (counters_.n_nodes >= limits_.node_limit) {
                control_.stop(Status::node_limit);
            } else {
                expand_batch(table, expanders);
            }
        }
        return result();
    }

  private:
    /// Only under a limit on the length is the length of a query that of its node, not of an
    /// equivalent one.
    Pruning pruning() const {
        return {incumbent_.value(), limits_.approximation_factor,
                is_limited_ ? std::optional(incumbent_.n_conditions()) : std::nullopt};
    }
    bool can_prune(const Node& node) const { return pruning()(node.bound, node.query.size() + 1); }

    /// Sets: a first incumbent and the bound of the root. Returns the order of the columns:
    /// ascending by their bounds, which leaves the strong ones few candidates; the paper's bound
    /// goes with the given order.
    std::vector<std::size_t> start() {
        const OrderedTable table(problem_.propositions,
                                 identity_order(problem_.propositions.n_columns()));
        std::vector<std::uint32_t> rows(table.n_rows());
        std::iota(rows.begin(), rows.end(), std::uint32_t{0});
        const BitSet columns(table.n_columns(), true);
        RowClasses classes(table);
        classes.assign(problem_, rows, columns, Bound::paper);
        const double bound =
            std::max(incumbent_.value(), classes.bound(problem_.l2_regularization));
        progress_ = {incumbent_.value(), bound, 0, 1};
        const Interrupt interrupt{control_, &progress_};
        if (options_.beam_width > 0) {
            Counters beam_counters;  // the beam's nodes are not the proof's
            extend_beam(problem_, table, limits_, options_.beam_width, incumbent_, beam_counters,
                        interrupt);
        }
        std::vector<std::size_t> order = identity_order(table.n_columns());
        AugmentationTable augmented(table.n_columns());
        if (options_.bound != Bound::paper &&
            augmented.evaluate(classes, columns, problem_.l2_regularization, interrupt)) {
            std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                return augmented.bound(a) < augmented.bound(b);
            });
        }
        return order;
    }

    /// The true query, with every column as an augmentation that nothing is known about.
    Node root(const OrderedTable& table) const {
        auto augmentations = std::make_shared<AugmentationList>();
        for (std::uint32_t position = 0; position < table.n_columns(); ++position) {
            augmentations->push_back({position, position, progress_.bound});
        }
        return {progress_.bound, {}, std::move(augmentations)};
    }

    /// Expands the best nodes against the same incumbent and gathers what they yield in their
    /// order: who expanded which node when leaves no trace.
    void expand_batch(const OrderedTable& table, std::vector<Expander>& expanders) {
        std::vector<Node> batch;
        const std::uint64_t size = std::min<std::uint64_t>(
            {1 + boundary_.size() / 8, 64, limits_.node_limit - counters_.n_nodes});
        while (batch.size() < size && !boundary_.empty() && !can_prune(boundary_.top())) {
            batch.push_back(boundary_.top());
            boundary_.pop();
        }
        progress_ = {incumbent_.value(), batch.front().bound, counters_.n_nodes,
                     boundary_.size() + batch.size()};
        std::vector<Expansion> expansions(batch.size());
        const Pruning pruning = this->pruning();
        workers_.run(batch.size(), [&](std::size_t worker, std::size_t item) {
            const Interrupt interrupt{control_, worker == 0 ? &progress_ : nullptr};
            if (interrupt.is_requested()) return;
            expansions[item] = expanders[worker].expand(batch[item], pruning, interrupt);
        });
        for (std::size_t item = 0; item < batch.size(); ++item)
            gather(batch[item], expansions[item], table);
    }

    void gather(Node& node, Expansion& expansion, const OrderedTable& table) {
        if (!expansion.is_complete) {
            boundary_.push(std::move(node));
            return;
        }
        ++counters_.n_nodes;
        counters_ += expansion.counters;
        relaxed_bound_ = std::max(relaxed_bound_, expansion.relaxed_bound);
        for (const Offer& offer : expansion.offers) {
            std::vector<std::size_t> columns;
            for (const std::uint32_t position : offer.query)
                columns.push_back(table.column(position));
            incumbent_.offer(offer.value, std::move(columns));
        }
        for (Node& child : expansion.children) boundary_.push(std::move(child));
    }

    void give_up_rest() {
        relaxed_bound_ = std::max(relaxed_bound_, pruning().relaxation(boundary_.top().bound));
        boundary_ = {};
    }

    Result result() {
        Result result;
        result.value = incumbent_.value();
        result.query = incumbent_.query();
        result.bound = std::max(result.value, relaxed_bound_);
        if (!boundary_.empty()) result.bound = std::max(result.bound, boundary_.top().bound);
        if (result.bound == result.value) {
            result.status = Status::optimal;
        } else {
            result.status = boundary_.empty() ? Status::approximate : *control_.reason();
        }
        result.counters = counters_;
        return result;
    }

    const Problem& problem_;
    const Limits& limits_;
    const OptimalOptions& options_;
    Control control_;
    Workers workers_;
    bool is_limited_;
    Incumbent incumbent_;
    Progress progress_{};
    std::priority_queue<Node> boundary_;
    Counters counters_;
    double relaxed_bound_ = 0.0;
};

}  // namespace

Result optimal(const Problem& problem, const Limits& limits, const OptimalOptions& options) {
    return BranchAndBound(problem, limits, options).solve();
}

}  // namespace rulesearch

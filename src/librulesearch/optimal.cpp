#include "librulesearch/optimal.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "librulesearch/conditions/beam.hpp"
#include "librulesearch/conditions/expander.hpp"
#include "librulesearch/conditions/node.hpp"
#include "librulesearch/engine/control.hpp"
#include "librulesearch/engine/open_nodes.hpp"
#include "librulesearch/engine/workers.hpp"
#include "librulesearch/problem/incumbent.hpp"
#include "librulesearch/problem/ratio_order.hpp"
#include "librulesearch/ranges/search.hpp"

namespace rulesearch {
namespace {

class BranchAndBound {
  public:
    BranchAndBound(const Problem& problem, const Limits& limits, const OptimalOptions& options)
        : problem_(problem),
          limits_(limits),
          options_(options),
          control_(limits),
          workers_(options.n_workers),
          is_limited_(!has_core_queries(limits, problem.propositions.n_columns())),
          incumbent_(problem.propositions),
          boundary_(options.memory_limit) {}

    Result solve() {
        incumbent_.offer(problem_.value(problem_.total()), {});
        start();
        std::vector<std::unique_ptr<Expander>> expanders;
        for (std::size_t worker = 0; worker < options_.n_workers; ++worker) {
            expanders.push_back(options_.bound == Bound::paper
                                    ? make_paper_expander(problem_, limits_)
                                    : make_class_expander(problem_, limits_,
                                                          kernels(options_.instruction_set),
                                                          options_.ingredients));
        }
        while (!boundary_.empty() && !control_.is_stopped()) {
            if (can_prune(boundary_.top())) {
                give_up_top();
            } else if (counters_.n_nodes >= limits_.node_limit) {
                control_.stop(Status::node_limit);
            } else {
                expand_batch(expanders);
            }
        }
        return result();
    }

  private:
    /// Longer ties are given up where the length of a query is that of its node, and not of a
    /// shorter equivalent: under a limit on the length. And nothing is shorter than no condition.
    Pruning pruning() const {
        const std::size_t size = incumbent_.n_conditions();
        return {incumbent_.value(), limits_.approximation_factor,
                is_limited_ || size == 0 ? std::optional(size) : std::nullopt};
    }
    bool can_prune(const Node& node) const { return pruning()(node.bound, node.query.size() + 1); }

    /// Sets: a first incumbent and the root, the true query with every column as an augmentation
    /// that nothing is known about.
    void start() {
        const Propositions& propositions = problem_.propositions;
        const double bound = std::max(incumbent_.value(), bound_of_all_rows(problem_));
        progress_ = {incumbent_.value(), bound, 0, 1, false};
        if (options_.beam_width > 0) {
            Counters beam_counters;  // the beam's nodes are not the proof's
            extend_beam(problem_, limits_, kernels(options_.instruction_set), options_.beam_width,
                        incumbent_, beam_counters, {control_, &progress_});
        }
        if (limits_.max_conditions == 0) return;
        auto siblings = std::make_shared<Siblings>();
        siblings->excluded = BitSet(propositions.n_columns());
        for (std::uint32_t column = 0; column < propositions.n_columns(); ++column) {
            siblings->augmentations.push_back({column, column, bound});
        }
        boundary_.push({bound, {}, std::move(siblings), 0});
    }

    /// Expands the best nodes against the same incumbent and gathers what they yield in their
    /// order: who expanded which node when leaves no trace.
    void expand_batch(std::vector<std::unique_ptr<Expander>>& expanders) {
        std::vector<Node> batch;
        const std::uint64_t size = std::min<std::uint64_t>(
            {1 + boundary_.size() / 8, 64, limits_.node_limit - counters_.n_nodes});
        const double bound = boundary_.bound();
        const bool is_depth_first = boundary_.is_depth_first();
        while (batch.size() < size && !boundary_.empty() && !can_prune(boundary_.top()))
            batch.push_back(boundary_.pop());
        progress_ = {incumbent_.value(), bound, counters_.n_nodes, boundary_.size() + batch.size(),
                     is_depth_first};
        if (is_depth_first) counters_.n_depth_first += batch.size();
        std::vector<Expansion> expansions(batch.size());
        const Pruning pruning = this->pruning();
        control_.poll(progress_);
        const auto expand = [&](std::size_t worker, std::size_t item) {
            const Interrupt interrupt{control_, worker == 0 ? &progress_ : nullptr};
            if (interrupt.is_requested()) return;
            expansions[item] = expanders[worker]->expand(batch[item], pruning, interrupt);
        };
        workers_.run(batch.size(), expand, [&] { control_.poll(progress_); });
        for (std::size_t item = 0; item < batch.size(); ++item)
            gather(batch[item], expansions[item]);
    }

    void gather(Node& node, Expansion& expansion) {
        if (!expansion.is_complete) {
            boundary_.push(std::move(node));
            return;
        }
        ++counters_.n_nodes;
        counters_ += expansion.counters;
        relaxed_bound_ = std::max(relaxed_bound_, expansion.relaxed_bound);
        for (const Offer& offer : expansion.offers) {
            incumbent_.offer(offer.value, {offer.query.begin(), offer.query.end()});
        }
        boundary_.push_children(std::move(expansion.children), expansion.siblings);
    }

    void give_up_top() {
        relaxed_bound_ = std::max(relaxed_bound_, pruning().relaxation(boundary_.pop().bound));
    }

    Result result() {
        Result result;
        result.value = incumbent_.value();
        result.query = incumbent_.query();
        result.bound = std::max(result.value, relaxed_bound_);
        if (!boundary_.empty()) result.bound = std::max(result.bound, boundary_.bound());
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
    Boundary boundary_;
    Counters counters_;
    double relaxed_bound_ = 0.0;
};

}  // namespace

Result optimal(const Problem& problem, const Limits& limits, const OptimalOptions& options) {
    if (options.bound == Bound::ranges) return optimal_over_ranges(problem, limits, options);
    return BranchAndBound(problem, limits, options).solve();
}

}  // namespace rulesearch

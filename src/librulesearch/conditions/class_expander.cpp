#include <algorithm>
#include <bit>
#include <utility>

#include "librulesearch/conditions/candidates.hpp"
#include "librulesearch/conditions/column_order.hpp"
#include "librulesearch/conditions/expander.hpp"
#include "librulesearch/conditions/leaves.hpp"
#include "librulesearch/conditions/suffix_rows.hpp"
#include "librulesearch/kernels/proof_workspace.hpp"

namespace rulesearch::conditions {
namespace {

// Nodes with more rows times columns leave it to each child to see whether it can be pruned, so
// that several threads can share the work.
constexpr std::size_t max_examined_at_once = 2'000'000;
// Children with so few columns are solved without a try to prune them.
constexpr std::size_t few_columns = 7;

class ClassExpander final : public Expander {
  public:
    ClassExpander(const Problem& problem, const Limits& limits, const Kernels& kernels,
                  bool has_leaves)
        : problem_(problem),
          limits_(limits),
          kernels_(kernels),
          has_core_queries_(has_core_queries(limits, problem.extents.n_columns())),
          max_leaf_columns_(has_leaves && problem.refitted.empty() ? Leaves::max_columns : 0),
          leaves_(problem, limits, kernels),
          candidates_(problem, limits, kernels),
          rows_(candidates_.rows()),
          other_(candidates_.other_rows()),
          survivors_(problem.extents) {}

    Expansion expand(const Node& node, const Pruning& can_prune,
                     const Interrupt& interrupt) override;

  private:
    bool is_redundant(const Node& node) const;
    bool is_proven(const Pruning& can_prune);
    double make_offers(const Node& node, const Pruning& can_prune, Expansion& out) const;
    double value(const Node& node, std::size_t position, const Pruning& can_prune) const;
    void select_survivors(const Node& node, const Pruning& can_prune, Expansion& out);
    void key_rows();
    static void add_child(const Node& node, std::size_t t, Expansion& out);
    bool examine_children(const Node& node, const Pruning& can_prune, const Interrupt& interrupt,
                          Expansion& out);
    bool branch(const Node& node, const Pruning& can_prune, const Interrupt& interrupt,
                Expansion& out);
    void solve_rest(const Node& node, std::size_t t, const KeyedRows& rows,
                    const Pruning& can_prune, Expansion& out);
    void solve_child(const Node& node, std::size_t t, const Pruning& can_prune, Expansion& out);
    bool is_proven_below(const RowsView& rows, const ChainsView& chains, const ForcedRows& forced,
                         const Pruning& can_prune, bool is_leaf = false);

    bool covers_enough(const Statistics& sums) const {
        return limits_.min_coverage == 0.0 || sums.coverage >= limits_.min_coverage;
    }

    const Problem& problem_;
    const Limits& limits_;
    const Kernels& kernels_;
    const bool has_core_queries_;
    const std::size_t max_leaf_columns_;
    Leaves leaves_;

    Candidates candidates_;  // of the node in hand
    KeyedRows& rows_;        // its rows, later in the order of keys
    KeyedRows& other_;       // the same in another order
    ColumnOrder survivors_;
    SuffixRows suffix_;
    std::vector<std::uint32_t> leaf_columns_, leaf_keys_;
    ProofWorkspace workspace_;
};

Expansion ClassExpander::expand(const Node& node, const Pruning& can_prune,
                                const Interrupt& interrupt) {
    Expansion out;
    out.is_complete = true;
    if (is_redundant(node)) {
        ++out.counters.equivalence_immediate;
        return out;
    }
    candidates_.take(node);
    if (!candidates_.select(node, can_prune, out)) return out;
    if (!node.siblings->is_examined && is_proven(can_prune)) {
        ++out.counters.bound_immediate;
        out.note_pruned(can_prune.unproven(can_prune.threshold()));
        return out;
    }
    if (interrupt.is_requested()) {
        out.is_complete = false;
        return out;
    }
    candidates_.bound(can_prune.floor());
    out.counters.n_evaluations += candidates_.size();
    const double best = make_offers(node, can_prune, out);
    if (node.augmented_size() >= limits_.max_conditions) return out;
    const Pruning raised = can_prune.raised(
        best, has_core_queries_ ? std::nullopt : std::optional(node.augmented_size()));
    select_survivors(node, raised, out);
    out.is_complete = branch(node, raised, interrupt, out);
    return out;
}

/// All rows lie in a column that was excluded on the way here: adding it changes nothing, and what
/// contains it is looked at, or given up, in its own branch.
bool ClassExpander::is_redundant(const Node& node) const {
    if (!has_core_queries_ || node.query.empty()) return false;
    const Extents& extents = problem_.extents;
    const BitSet extent = extents.extent_of(node.query);
    bool is_implied = false;
    node.siblings->excluded.for_each([&](std::size_t column) {
        is_implied = is_implied || extent.is_subset_of(extents.extent(column));
    });
    for (std::size_t i = 0; i + 1 < node.next_sibling && !is_implied; ++i) {
        is_implied = extent.is_subset_of(extents.extent(node.siblings->augmentations[i].index));
    }
    return is_implied;
}

/// What a parent with too many rows left undone.
bool ClassExpander::is_proven(const Pruning& can_prune) {
    // Keys are in descending order, unless candidates have gone; proofs do not depend on it.
    return is_proven_below(rows_.view(), {nullptr, candidates_.positions().data(), 0},
                           {candidates_.forced().gradient, candidates_.forced().hessian},
                           can_prune);
}

/// Whether no refinement beats the incumbent, as far as a proof can tell.
bool ClassExpander::is_proven_below(const RowsView& rows, const ChainsView& chains,
                                    const ForcedRows& forced, const Pruning& can_prune,
                                    bool is_leaf) {
    const bool has_pairs = rows.size <= ProofWorkspace::max_paired_rows && !is_leaf;
    const ProofEffort effort{has_pairs, !is_leaf};
    return kernels_.is_proven_below(rows, chains, forced, problem_.l2_regularization,
                                    can_prune.threshold(), effort, workspace_.buffers(rows));
}

/// Returns the best value, 0 if nothing was offered.
double ClassExpander::make_offers(const Node& node, const Pruning& can_prune,
                                  Expansion& out) const {
    return offer_best(node, can_prune, out, [&](auto&& visit) {
        candidates_.for_each([&](std::size_t position) {
            visit(candidates_.column(position), value(node, position, can_prune));
        });
    });
}

/// What the query augmented by a candidate is worth, 0 if that does not count.
double ClassExpander::value(const Node& node, std::size_t position,
                            const Pruning& can_prune) const {
    const Statistics sums = candidates_.sums(position);
    if (!covers_enough(sums)) return 0.0;
    const double value = problem_.value(sums);
    if (problem_.refitted.empty()) return value;
    // At a discount it is too high.
    if (!can_prune.is_competitive(value * (1.0 + problem_.slack()))) return 0.0;
    BitSet extent = problem_.extents.extent_of(node.query);
    extent &= problem_.extents.extent(candidates_.column(position));
    return problem_.worth(extent).value;
}

/// Sets: survivors_, the candidates whose bounds leave hope.
void ClassExpander::select_survivors(const Node& node, const Pruning& can_prune, Expansion& out) {
    survivors_.clear();
    const bool is_root = node.query.empty();
    candidates_.for_each([&](std::size_t position) {
        double bound = candidates_.bound_at(position);
        // What a set is worth may be rounded up.
        if (!problem_.refitted.empty()) bound *= 1.0 + problem_.slack();
        const Statistics sums = candidates_.sums(position);
        if (can_prune(bound, node.augmented_size() + 1)) {
            ++out.counters.bound_immediate;
            // Survivors of the root are the columns of all queries to come.
            if (is_root) ++out.counters.n_dropped;
            out.note_pruned(can_prune.unproven(bound));
        } else if (covers_enough(sums)) {
            survivors_.push({static_cast<std::uint32_t>(position), candidates_.column(position),
                             bound, sums.gradient, sums.hessian});
        }
    });
}

bool ClassExpander::branch(const Node& node, const Pruning& can_prune, const Interrupt& interrupt,
                           Expansion& out) {
    out.counters.equivalence_immediate += survivors_.drop_equal_columns(rows_);
    if (survivors_.size() < 2) return true;
    survivors_.sort();
    const std::size_t n_columns = survivors_.size();
    const bool is_leaf = n_columns <= max_leaf_columns_;
    // Under the joint objective, a child's rows count for more once their own discount is known.
    const bool is_left_to_children =
        !problem_.refitted.empty() || (rows_.size() * n_columns > max_examined_at_once && !is_leaf);
    if (!is_left_to_children) key_rows();
    if (is_leaf) {
        solve_rest(node, 0, other_, can_prune, out);
        return true;
    }
    const auto siblings = std::make_shared<Siblings>();
    out.siblings = siblings;
    siblings->augmentations.reserve(n_columns);
    for (const Survivor& survivor : survivors_)
        siblings->augmentations.push_back({survivor.column, 0, survivor.bound});
    siblings->excluded = node.siblings->excluded;
    for (std::size_t i = 0; i + 1 < node.next_sibling; ++i)
        siblings->excluded.insert(node.siblings->augmentations[i].index);
    if (is_left_to_children) {
        siblings->is_examined = false;
        for (std::size_t t = 0; t + 1 < n_columns; ++t) add_child(node, t, out);
        return true;
    }
    candidates_.orders().sort_by_key(other_, rows_);
    rows_.merge_neighbours();
    if (!examine_children(node, can_prune, interrupt, out)) return false;
    if (!out.children.empty()) siblings->rows = rows_.compact();
    return true;
}

/// Sets: other_, the rows with keys in the order of the survivors, and one row for the forced ones.
void ClassExpander::key_rows() {
    const std::size_t n_columns = survivors_.size(), n_rows = rows_.size();
    other_.reset(n_rows + 1, n_words(n_columns), limits_.min_coverage > 0.0);
    for (std::size_t i = 0; i < n_rows; ++i) other_.push(rows_.sums(i));
    survivors_.write_keys(rows_, kernels_, other_);
    if (!candidates_.has_forced()) return;
    other_.push(candidates_.forced());
    for (std::size_t p = 0; p < other_.n_planes(); ++p) {
        const std::size_t n = std::min(word_bits, n_columns - p * word_bits);
        other_.plane(p)[n_rows] = n == word_bits ? ~Word{0} : (Word{1} << n) - 1;
    }
}

void ClassExpander::add_child(const Node& node, std::size_t t, Expansion& out) {
    const Augmentation& augmentation = out.siblings->augmentations[t];
    out.children.push_back(
        {std::min(augmentation.bound, node.bound), node.query, out.siblings, t + 1});
    out.children.back().query.push_back(augmentation.index);
}

/// Adds the children that cannot be pruned. Returns false if it was interrupted.
bool ClassExpander::examine_children(const Node& node, const Pruning& can_prune,
                                     const Interrupt& interrupt, Expansion& out) {
    const std::size_t n_columns = survivors_.size();
    suffix_.assign(rows_);
    for (std::size_t t = 0; t + 1 < n_columns; ++t) {
        if (interrupt.is_requested()) return false;
        if (n_columns - t <= max_leaf_columns_) {
            solve_rest(node, t, suffix_.rows(), can_prune, out);
            break;
        }
        if (!suffix_.next_child(t)) continue;
        std::size_t n_left = 0;
        for (const Word word : suffix_.candidates())
            n_left += static_cast<std::size_t>(std::popcount(word));
        if (n_left <= std::min(few_columns, max_leaf_columns_)) {
            solve_child(node, t, can_prune, out);
            continue;
        }
        const bool is_leaf = n_left <= max_leaf_columns_;
        if (is_proven_below(suffix_.free_rows(),
                            survivors_.chains(t / word_bits, suffix_.candidates()),
                            suffix_.forced(), can_prune, is_leaf)) {
            ++out.counters.bound_immediate;
            out.note_pruned(can_prune.unproven(can_prune.threshold()));
        } else if (is_leaf) {
            solve_child(node, t, can_prune, out);
        } else {
            add_child(node, t, out);
        }
    }
    return true;
}

/// All refinements by columns from t on.
void ClassExpander::solve_rest(const Node& node, std::size_t t, const KeyedRows& rows,
                               const Pruning& can_prune, Expansion& out) {
    const std::size_t first = t / word_bits, shift = t % word_bits;
    leaf_columns_.clear();
    for (std::size_t j = t; j < survivors_.size(); ++j)
        leaf_columns_.push_back(survivors_[j].column);
    leaf_keys_.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Word key = rows.plane(first)[i] >> shift;
        if (shift > 0 && first + 1 < rows.n_planes())
            key |= rows.plane(first + 1)[i] << (word_bits - shift);
        leaf_keys_[i] = static_cast<std::uint32_t>(key);
    }
    ++out.counters.n_leaves;
    leaves_.solve(node.query, leaf_columns_, rows, leaf_keys_, can_prune, out.offers);
}

/// All refinements of child t, which has few candidates.
void ClassExpander::solve_child(const Node& node, std::size_t t, const Pruning& can_prune,
                                Expansion& out) {
    leaf_columns_.clear();
    const KeyedRows& rows = suffix_.child();
    leaf_keys_.assign(rows.size(), 0);
    const std::size_t first = t / word_bits;
    for (std::size_t p = 0; p < suffix_.candidates().size(); ++p) {
        for_each_bit(suffix_.candidates()[p], 0, [&](std::size_t bit) {
            const Word* plane = rows.plane(p);
            const std::size_t j = leaf_columns_.size();
            for (std::size_t i = 0; i < rows.size(); ++i)
                leaf_keys_[i] |= static_cast<std::uint32_t>((plane[i] >> bit) & 1) << j;
            leaf_columns_.push_back(survivors_[(first + p) * word_bits + bit].column);
        });
    }
    std::vector<std::uint32_t> query = node.query;
    query.push_back(survivors_[t].column);
    ++out.counters.n_leaves;
    leaves_.solve(query, leaf_columns_, rows, leaf_keys_, can_prune, out.offers);
}

}  // namespace

std::unique_ptr<Expander> make_class_expander(const Problem& problem, const Limits& limits,
                                              const Kernels& kernels, bool has_leaves) {
    return std::make_unique<ClassExpander>(problem, limits, kernels, has_leaves);
}

}  // namespace rulesearch::conditions

#include <algorithm>
#include <bit>
#include <utility>

#include "librulesearch/conditions/column_order.hpp"
#include "librulesearch/conditions/expander.hpp"
#include "librulesearch/conditions/leaves.hpp"
#include "librulesearch/conditions/new_keys.hpp"
#include "librulesearch/conditions/row_classes.hpp"
#include "librulesearch/conditions/row_orders.hpp"
#include "librulesearch/conditions/suffix_rows.hpp"
#include "librulesearch/kernels/proof_workspace.hpp"

namespace rulesearch::conditions {
namespace {

// Nodes with more rows times columns leave it to each child to be proven in vain, so that several
// threads can share the work.
constexpr std::size_t max_examined_at_once = 2'000'000;
// Children with so few columns are solved without a look for a proof.
constexpr std::size_t few_columns = 7;

class ClassExpander final : public Expander {
  public:
    ClassExpander(const Problem& problem, const Limits& limits, const Kernels& kernels,
                  const Ingredients& ingredients)
        : problem_(problem),
          limits_(limits),
          kernels_(kernels),
          ingredients_(ingredients),
          has_core_queries_(has_core_queries(limits, problem.extents.n_columns())),
          needs_coverage_(limits.min_coverage > 0.0),
          max_leaf_columns_(ingredients.leaves ? Leaves::max_columns : 0),
          leaves_(problem, limits, kernels),
          survivors_(problem.extents),
          new_keys_(kernels) {}

    Expansion expand(const Node& node, const Pruning& can_prune,
                     const Interrupt& interrupt) override;

  private:
    bool is_redundant(const Node& node) const;
    void take_rows(const Node& node);
    void take_rows_of_table(const Node& node);
    bool select_candidates(const Node& node, const Pruning& can_prune, Expansion& out);
    bool is_proven(const Pruning& can_prune);
    void bound_candidates(const Pruning& can_prune);
    double make_offers(const Node& node, const Pruning& can_prune, Expansion& out) const;
    void select_survivors(const Node& node, const Pruning& can_prune, Expansion& out);
    void key_rows();
    static void add_child(const Node& node, std::size_t t, Expansion& out);
    bool examine_children(const Node& node, const AugmentationList& augmentations,
                          const Pruning& can_prune, const Interrupt& interrupt, Expansion& out);
    bool branch(const Node& node, const Pruning& can_prune, const Interrupt& interrupt,
                Expansion& out);
    void solve_rest(const Node& node, std::size_t t, const KeyedRows& rows,
                    const AugmentationList& augmentations, const Pruning& can_prune,
                    Expansion& out);
    void solve_child(const Node& node, std::size_t t, const AugmentationList& augmentations,
                     const Pruning& can_prune, Expansion& out);
    bool is_proven_below(const RowsView& rows, const ChainsView& chains, const ForcedRows& forced,
                         const Pruning& can_prune, bool is_leaf = false);

    static std::size_t n_conditions(const Node& node) { return node.query.size() + 1; }
    std::uint32_t column_at(std::size_t position) const { return columns_[position]; }
    Statistics sums(std::size_t position) const {
        return {column_gradients_[position], column_hessians_[position],
                column_coverages_[position]};
    }

    const Problem& problem_;
    const Limits& limits_;
    const Kernels& kernels_;
    const Ingredients ingredients_;
    const bool has_core_queries_;
    const bool needs_coverage_;
    const std::size_t max_leaf_columns_;
    Leaves leaves_;

    // The node in hand. A *position* is a bit of its rows' keys.
    KeyedRows rows_;     // neither forced nor in no candidate; later in the order of keys
    KeyedRows other_;    // the same in another order
    Statistics forced_;  // rows in all candidates
    bool has_forced_ = false;
    std::vector<std::uint32_t> columns_;  // by position
    std::vector<double> known_bounds_;    // by position, from the parent
    std::vector<Word> candidates_;        // positions
    std::size_t n_candidates_ = 0;

    RowClasses classes_;
    RowOrders orders_;
    std::vector<double> column_gradients_, column_hessians_, column_coverages_, column_bounds_;
    ColumnOrder survivors_;
    NewKeys new_keys_;
    std::vector<std::uint32_t> selected_;
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
    take_rows(node);
    if (!select_candidates(node, can_prune, out)) return out;
    if (!node.siblings->is_examined && is_proven(can_prune)) {
        ++out.counters.bound_immediate;
        out.note_pruned(can_prune.unproven(can_prune.threshold()));
        return out;
    }
    if (interrupt.is_requested()) {
        out.is_complete = false;
        return out;
    }
    orders_.sort_by_ratio(rows_, other_);
    bound_candidates(can_prune);
    out.counters.n_evaluations += n_candidates_;
    const double best = make_offers(node, can_prune, out);
    if (n_conditions(node) >= limits_.max_conditions) return out;
    const Pruning raised = can_prune.raised(
        best, has_core_queries_ ? std::nullopt : std::optional(n_conditions(node)));
    select_survivors(node, raised, out);
    out.is_complete = branch(node, raised, interrupt, out);
    return out;
}

/// All rows lie in a column that was excluded on the way here: adding it changes nothing, and what
/// contains it is looked at, or given up, in its own branch.
bool ClassExpander::is_redundant(const Node& node) const {
    if (!has_core_queries_ || !ingredients_.canonicity || node.query.empty()) return false;
    const Extents& extents = problem_.extents;
    BitSet extent = extents.extent(node.query.front());
    for (std::size_t k = 1; k < node.query.size(); ++k) extent &= extents.extent(node.query[k]);
    bool is_implied = false;
    node.siblings->excluded.for_each([&](std::size_t column) {
        is_implied = is_implied || extent.is_subset_of(extents.extent(column));
    });
    for (std::size_t i = 0; i + 1 < node.next_sibling && !is_implied; ++i) {
        is_implied = extent.is_subset_of(extents.extent(node.siblings->augmentations[i].index));
    }
    return is_implied;
}

/// Sets: rows_, columns_ and known_bounds_.
void ClassExpander::take_rows(const Node& node) {
    columns_.clear();
    known_bounds_.clear();
    const KeyedRows& from = node.siblings->rows;
    if (from.size() == 0) {
        take_rows_of_table(node);
        return;
    }
    const std::size_t t = node.next_sibling - 1, first = t / word_bits;
    const AugmentationList& augmentations = node.siblings->augmentations;
    for (std::size_t i = first * word_bits; i < augmentations.size(); ++i) {
        columns_.push_back(augmentations[i].index);
        known_bounds_.push_back(augmentations[i].bound);
    }
    rows_.take_child(from, t, selected_);
    if (ingredients_.row_classes) rows_.merge_neighbours();
}

/// The same without the help of the parent's rows; a position is a column.
void ClassExpander::take_rows_of_table(const Node& node) {
    const Extents& extents = problem_.extents;
    BitSet extent(extents.n_distinct_rows(), true);
    for (const std::uint32_t column : node.query) extent &= extents.extent(column);
    std::vector<Word> mask(extents.stride(), 0);
    columns_.resize(extents.n_columns());
    known_bounds_.assign(extents.n_columns(), 0.0);
    const AugmentationList& augmentations = node.siblings->augmentations;
    for (std::size_t column = 0; column < columns_.size(); ++column)
        columns_[column] = static_cast<std::uint32_t>(column);
    for (std::size_t i = node.next_sibling; i < augmentations.size(); ++i) {
        const std::uint32_t column = augmentations[i].index;
        mask[column / word_bits] |= Word{1} << (column % word_bits);
        known_bounds_[column] = augmentations[i].bound;
    }
    const std::size_t n_rows = extent.size();
    const bool is_root = node.query.empty() && augmentations.size() == extents.n_columns();
    // Those of the root are distinct already.
    const bool are_merged = ingredients_.row_classes && !is_root;
    if (are_merged) classes_.reset(n_rows);
    KeyedRows& rows = is_root ? rows_ : other_;
    rows.reset(n_rows, extents.stride(), needs_coverage_);
    extent.for_each([&](std::size_t row) {
        for (std::size_t p = 0; p < rows.n_planes(); ++p)
            rows.plane(p)[rows.size()] = extents.signature(row)[p] & mask[p];
        if (are_merged) {
            classes_.push(problem_.rows[row], rows);
        } else {
            rows.push(problem_.rows[row]);
        }
    });
    if (is_root) return;
    // Only pairs of rows gain from an order.
    if (rows.size() <= ProofWorkspace::max_paired_rows) {
        orders_.sort_by_key(other_, rows_);
    } else {
        std::swap(other_, rows_);
    }
}

/// Sets: candidates_, and moves rows in all or none of them out of rows_. Returns false if there is
/// no candidate.
bool ClassExpander::select_candidates(const Node& node, const Pruning& can_prune, Expansion& out) {
    const std::size_t n_planes = rows_.n_planes();
    candidates_.assign(n_planes, 0);
    n_candidates_ = 0;
    const std::size_t first =
        node.siblings->rows.size() == 0
            ? 0
            : node.next_sibling - (node.next_sibling - 1) / word_bits * word_bits;
    for (std::size_t p = 0; p < n_planes; ++p) {
        Word in_any = 0, in_all = ~Word{0};
        const Word* plane = rows_.plane(p);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            in_any |= plane[i];
            in_all &= plane[i];
        }
        for_each_bit(in_any, p * word_bits, [&](std::size_t position) {
            if (position < first) return;
            const Word bit = Word{1} << (position % word_bits);
            if ((in_all & bit) != 0) {
                ++out.counters.equivalence_immediate;
            } else if (can_prune(known_bounds_[position], n_conditions(node))) {
                ++out.counters.bound_propagated;
                out.note_pruned(can_prune.unproven(known_bounds_[position]));
            } else {
                candidates_[p] |= bit;
                ++n_candidates_;
            }
        });
    }
    forced_ = {};
    has_forced_ = false;
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        Word any = 0, lacking = 0;
        for (std::size_t p = 0; p < n_planes; ++p) {
            const Word key = rows_.plane(p)[i] & candidates_[p];
            rows_.plane(p)[n_kept] = key;
            any |= key;
            lacking |= candidates_[p] & ~key;
        }
        if (lacking == 0) {
            forced_ += rows_.sums(i);
            has_forced_ = true;
        } else if (any != 0) {
            rows_.set(n_kept++, rows_.sums(i));
        }
    }
    rows_.resize(n_kept);
    return n_candidates_ > 0;
}

/// What a parent with too many rows left undone.
bool ClassExpander::is_proven(const Pruning& can_prune) {
    // Keys are in descending order, unless candidates have gone; proofs do not depend on it.
    return ingredients_.tangents && is_proven_below(rows_.view(), {nullptr, candidates_.data(), 0},
                                                    {forced_.gradient, forced_.hessian}, can_prune);
}

/// Whether no refinement beats the incumbent, as far as a proof can tell.
bool ClassExpander::is_proven_below(const RowsView& rows, const ChainsView& chains,
                                    const ForcedRows& forced, const Pruning& can_prune,
                                    bool is_leaf) {
    const bool has_pairs = rows.size <= ProofWorkspace::max_paired_rows && !is_leaf;
    const ProofEffort effort{ingredients_.closure && has_pairs,
                             ingredients_.intersection && !is_leaf};
    return kernels_.is_proven_below(rows, chains, forced, problem_.l2_regularization,
                                    can_prune.threshold(), effort, workspace_.buffers(rows));
}

/// Sets: sums and bounds of the candidates.
void ClassExpander::bound_candidates(const Pruning& can_prune) {
    const std::size_t n_positions = rows_.n_planes() * word_bits;
    for (auto* values :
         {&column_gradients_, &column_hessians_, &column_coverages_, &column_bounds_}) {
        if (values->size() < n_positions) values->resize(n_positions);
    }
    kernels_.bound_columns(other_.view(), orders_.n_positive(), orders_.n_negative(),
                           {forced_.gradient, forced_.hessian}, problem_.l2_regularization,
                           can_prune.floor(), candidates_.data(),
                           {column_gradients_.data(), column_hessians_.data()},
                           column_bounds_.data());
    if (limits_.min_coverage == 0.0) return;
    kernels_.sum_columns(rows_.coverage_view(),
                         {column_coverages_.data(), column_coverages_.data()});
    for (double& coverage : column_coverages_) coverage += forced_.coverage;
}

/// Offers the best augmentations if they are as good as the incumbent; returns the best value, 0 if
/// there is none.
double ClassExpander::make_offers(const Node& node, const Pruning& can_prune,
                                  Expansion& out) const {
    const auto value = [&](std::size_t position) {
        const Statistics sums = this->sums(position);
        const bool covers_enough =
            limits_.min_coverage == 0.0 || sums.coverage >= limits_.min_coverage;
        return covers_enough ? problem_.value(sums) : 0.0;
    };
    double best = 0.0;
    const auto for_each_candidate = [&](auto&& visit) {
        for (std::size_t p = 0; p < candidates_.size(); ++p)
            for_each_bit(candidates_[p], p * word_bits, visit);
    };
    for_each_candidate([&](std::size_t position) { best = std::max(best, value(position)); });
    if (best == 0.0 || !can_prune.is_competitive(best)) return 0.0;
    for_each_candidate([&](std::size_t position) {
        if (value(position) < best) return;
        out.offers.push_back({best, node.query});
        out.offers.back().query.push_back(column_at(position));
    });
    return best;
}

/// Sets: survivors_, the candidates whose bounds leave hope.
void ClassExpander::select_survivors(const Node& node, const Pruning& can_prune, Expansion& out) {
    survivors_.clear();
    for (std::size_t p = 0; p < candidates_.size(); ++p) {
        for_each_bit(candidates_[p], p * word_bits, [&](std::size_t position) {
            const double bound = std::min(column_bounds_[position], known_bounds_[position]);
            if (can_prune(bound, n_conditions(node) + 1)) {
                ++out.counters.bound_immediate;
                out.note_pruned(can_prune.unproven(bound));
            } else if (limits_.min_coverage == 0.0 ||
                       column_coverages_[position] >= limits_.min_coverage) {
                survivors_.push({static_cast<std::uint32_t>(position), column_at(position), bound,
                                 column_gradients_[position], column_hessians_[position]});
            }
        });
    }
}

bool ClassExpander::branch(const Node& node, const Pruning& can_prune, const Interrupt& interrupt,
                           Expansion& out) {
    out.counters.equivalence_immediate += survivors_.drop_equal_columns(rows_);
    if (survivors_.size() < 2) return true;
    survivors_.sort(ingredients_.reordering);
    AugmentationList augmentations;
    for (const Survivor& survivor : survivors_)
        augmentations.push_back({survivor.column, 0, survivor.bound});
    const std::size_t n_columns = augmentations.size();
    const bool is_leaf = n_columns <= max_leaf_columns_;
    const bool is_large = rows_.size() * n_columns > max_examined_at_once && !is_leaf;
    if (!is_large) key_rows();
    if (is_leaf) {
        solve_rest(node, 0, other_, augmentations, can_prune, out);
        return true;
    }
    const auto siblings = std::make_shared<Siblings>();
    out.siblings = siblings;
    siblings->augmentations = augmentations;
    siblings->excluded = node.siblings->excluded;
    for (std::size_t i = 0; i + 1 < node.next_sibling; ++i)
        siblings->excluded.insert(node.siblings->augmentations[i].index);
    if (is_large || !ingredients_.tangents) {
        siblings->is_examined = !ingredients_.tangents;
        for (std::size_t t = 0; t + 1 < n_columns; ++t) add_child(node, t, out);
    }
    if (is_large) return true;
    orders_.sort_by_key(other_, rows_);
    if (ingredients_.row_classes) rows_.merge_neighbours();
    if (ingredients_.tangents && !examine_children(node, augmentations, can_prune, interrupt, out))
        return false;
    if (!out.children.empty()) siblings->rows = rows_.compact();
    return true;
}

/// Sets: other_, the rows with keys in the order of the survivors, and one row for the forced ones.
void ClassExpander::key_rows() {
    const std::size_t n_columns = survivors_.size(), n_rows = rows_.size();
    other_.reset(n_rows + 1, n_words(n_columns), needs_coverage_);
    for (std::size_t i = 0; i < n_rows; ++i) other_.push(rows_.sums(i));
    new_keys_.write(
        rows_, n_columns, [&](std::size_t t) { return survivors_[t].position; }, other_);
    if (!has_forced_) return;
    other_.push(forced_);
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

/// Adds the children that are not proven to be in vain. Returns false if it was interrupted.
bool ClassExpander::examine_children(const Node& node, const AugmentationList& augmentations,
                                     const Pruning& can_prune, const Interrupt& interrupt,
                                     Expansion& out) {
    const std::size_t n_columns = augmentations.size();
    suffix_.assign(rows_);
    for (std::size_t t = 0; t + 1 < n_columns; ++t) {
        if (interrupt.is_requested()) return false;
        if (n_columns - t <= max_leaf_columns_) {
            solve_rest(node, t, suffix_.rows(), augmentations, can_prune, out);
            break;
        }
        if (!suffix_.next_child(t)) continue;
        std::size_t n_left = 0;
        for (const Word word : suffix_.candidates())
            n_left += static_cast<std::size_t>(std::popcount(word));
        if (n_left <= std::min(few_columns, max_leaf_columns_)) {
            solve_child(node, t, augmentations, can_prune, out);
            continue;
        }
        const bool is_leaf = n_left <= max_leaf_columns_;
        if (is_proven_below(suffix_.free_rows(),
                            survivors_.chains(t / word_bits, suffix_.candidates()),
                            suffix_.forced(), can_prune, is_leaf)) {
            ++out.counters.bound_immediate;
            out.note_pruned(can_prune.unproven(can_prune.threshold()));
        } else if (is_leaf) {
            solve_child(node, t, augmentations, can_prune, out);
        } else {
            add_child(node, t, out);
        }
    }
    return true;
}

/// All refinements by columns from t on.
void ClassExpander::solve_rest(const Node& node, std::size_t t, const KeyedRows& rows,
                               const AugmentationList& augmentations, const Pruning& can_prune,
                               Expansion& out) {
    const std::size_t first = t / word_bits, shift = t % word_bits;
    leaf_columns_.clear();
    for (std::size_t j = t; j < augmentations.size(); ++j)
        leaf_columns_.push_back(augmentations[j].index);
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
void ClassExpander::solve_child(const Node& node, std::size_t t,
                                const AugmentationList& augmentations, const Pruning& can_prune,
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
            leaf_columns_.push_back(augmentations[(first + p) * word_bits + bit].index);
        });
    }
    std::vector<std::uint32_t> query = node.query;
    query.push_back(augmentations[t].index);
    ++out.counters.n_leaves;
    leaves_.solve(query, leaf_columns_, rows, leaf_keys_, can_prune, out.offers);
}

}  // namespace

std::unique_ptr<Expander> make_class_expander(const Problem& problem, const Limits& limits,
                                              const Kernels& kernels,
                                              const Ingredients& ingredients) {
    return std::make_unique<ClassExpander>(problem, limits, kernels, ingredients);
}

}  // namespace rulesearch::conditions

#include <algorithm>
#include <bit>

#include "librulesearch/conditions/expander.hpp"
#include "librulesearch/problem/discounted.hpp"
#include "librulesearch/problem/ratio_order.hpp"

namespace rulesearch::conditions {
namespace {

class PaperExpander final : public Expander {
  public:
    PaperExpander(const Problem& problem, const Limits& limits)
        : problem_(problem),
          limits_(limits),
          has_core_queries_(has_core_queries(limits, problem.extents.n_columns())),
          sums_(problem.extents.n_columns()),
          values_(problem.extents.n_columns()),
          bounds_(problem.extents.n_columns()),
          running_(problem.extents.n_columns()) {}

    Expansion expand(const Node& node, const Pruning& can_prune,
                     const Interrupt& interrupt) override {
        Expansion out;
        out.is_complete = true;
        collect_rows(node);
        const AugmentationList open = select_candidates(node, can_prune, out);
        if (open.empty()) return out;
        const bool is_evaluated = problem_.refitted.empty() ? evaluate(open, interrupt)
                                                            : evaluate_with_others(open, interrupt);
        if (!is_evaluated) {
            out.is_complete = false;
            return out;
        }
        out.counters.n_evaluations += open.size();
        make_offers(node, open, can_prune, out);
        if (node.augmented_size() < limits_.max_conditions) branch(node, open, can_prune, out);
        return out;
    }

  private:
    /// Sets: the rows of the query and the columns it implies.
    void collect_rows(const Node& node) {
        const Extents& extents = problem_.extents;
        extent_ = extents.extent_of(node.query);
        implied_ = BitSet(extents.n_columns(), true);
        extent_.for_each([&](std::size_t row) { implied_.intersect(extents.signature(row)); });
    }

    /// Augmentations that are not pruned by what is already known.
    AugmentationList select_candidates(const Node& node, const Pruning& can_prune,
                                       Expansion& out) const {
        AugmentationList open;
        const AugmentationList& augmentations = node.siblings->augmentations;
        for (std::size_t i = node.next_sibling; i < augmentations.size(); ++i) {
            const Augmentation& augmentation = augmentations[i];
            const bool is_never_core = has_core_queries_ && !node.query.empty() &&
                                       augmentation.critical_index < node.query.back();
            if (implied_.contains(augmentation.index)) {
                ++out.counters.equivalence_immediate;
            } else if (can_prune(augmentation.bound, node.augmented_size())) {
                ++out.counters.bound_propagated;
                out.note_pruned(can_prune.unproven(augmentation.bound));
            } else if (is_never_core) {
                ++out.counters.equivalence_propagated;
            } else {
                open.push_back(augmentation);
            }
        }
        return open;
    }

    /// Sets: sums, values and bounds of the augmented queries. Returns false if it was interrupted.
    bool evaluate(const AugmentationList& open, const Interrupt& interrupt) {
        constexpr std::size_t patience = 1024;  // rows between two looks at the clock
        rows_.assign(problem_, extent_);
        BitSet candidates(problem_.extents.n_columns());
        for (const Augmentation& augmentation : open) {
            candidates.insert(augmentation.index);
            sums_[augmentation.index] = {};
            bounds_[augmentation.index] = 0.0;
        }
        std::size_t n_seen = 0;
        for (const auto* rows : {&rows_.positive, &rows_.negative, &rows_.neutral}) {
            for (const Augmentation& augmentation : open)
                running_[augmentation.index] = RunningBound(problem_.l2_regularization);
            for (const std::uint32_t row : *rows) {
                if (++n_seen % patience == 0 && interrupt.is_requested()) return false;
                const Word* signature = problem_.extents.signature(row);
                for (std::size_t w = 0; w < candidates.words().size(); ++w) {
                    for_each_bit(signature[w] & candidates.words()[w], w * word_bits,
                                 [&](std::size_t column) {
                                     running_[column].add(problem_.rows[row]);
                                     sums_[column] += problem_.rows[row];
                                 });
                }
            }
            for (const Augmentation& augmentation : open) {
                bounds_[augmentation.index] =
                    std::max(bounds_[augmentation.index], running_[augmentation.index].bound());
            }
        }
        for (const Augmentation& augmentation : open)
            values_[augmentation.index] = problem_.value(sums_[augmentation.index]);
        return true;
    }

    /// The same where rows count for less the more of their cell is covered: for each augmented
    /// query by itself.
    bool evaluate_with_others(const AugmentationList& open, const Interrupt& interrupt) {
        for (const auto& [column, critical_index, bound] : open) {
            if (interrupt.is_requested()) return false;
            BitSet extent = extent_;
            extent &= problem_.extents.extent(column);
            const Problem::Worth worth = problem_.worth(extent);
            sums_[column] = worth.sums;
            values_[column] = worth.value;
            bounds_[column] = std::max(worth.value, bound_within(problem_, extent));
        }
        return true;
    }

    void make_offers(const Node& node, const AugmentationList& open, const Pruning& can_prune,
                     Expansion& out) const {
        offer_best(node, can_prune, out, [&](auto&& visit) {
            for (const Augmentation& augmentation : open) {
                const Statistics& sums = sums_[augmentation.index];
                visit(augmentation.index,
                      sums.coverage < limits_.min_coverage ? 0.0 : values_[augmentation.index]);
            }
        });
    }

    void branch(const Node& node, const AugmentationList& open, const Pruning& can_prune,
                Expansion& out) const {
        const auto siblings = std::make_shared<Siblings>();
        out.siblings = siblings;
        AugmentationList& augmentations = siblings->augmentations;
        for (const Augmentation& augmentation : open) {
            const double bound = bounds_[augmentation.index];
            if (can_prune(bound, node.augmented_size() + 1)) {
                ++out.counters.bound_immediate;
                out.note_pruned(can_prune.unproven(bound));
            } else if (sums_[augmentation.index].coverage >= limits_.min_coverage) {
                augmentations.push_back(
                    {augmentation.index,
                     has_core_queries_ ? critical_index(augmentation) : augmentation.index, bound});
            }
        }
        for (std::size_t i = 0; i < augmentations.size(); ++i) {
            if (augmentations[i].critical_index != augmentations[i].index) {
                ++out.counters.equivalence_immediate;
            } else if (i + 1 < augmentations.size()) {
                const double bound = std::min(augmentations[i].bound, node.bound);
                out.children.push_back({bound, node.query, siblings, i + 1});
                out.children.back().query.push_back(augmentations[i].index);
            }
        }
    }

    /// Smallest column that the augmented query newly implies; the augmentation itself exactly when
    /// the augmented query is core.
    std::uint32_t critical_index(const Augmentation& augmentation) const {
        const bool is_known_not_core = augmentation.critical_index < augmentation.index &&
                                       !implied_.contains(augmentation.critical_index);
        if (is_known_not_core) return augmentation.critical_index;
        // Cuts the smaller columns that are not implied yet down to those with all augmented rows.
        const std::size_t last = augmentation.index / word_bits;
        std::vector<Word> newly_implied(last + 1);
        for (std::size_t w = 0; w <= last; ++w) newly_implied[w] = ~implied_.words()[w];
        newly_implied[last] &= (Word{1} << (augmentation.index % word_bits)) - 1;
        const BitSet& column = problem_.extents.extent(augmentation.index);
        for (std::size_t w = 0; w < extent_.words().size(); ++w) {
            for (Word bits = extent_.words()[w] & column.words()[w]; bits != 0; bits &= bits - 1) {
                const std::size_t row =
                    w * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
                const Word* signature = problem_.extents.signature(row);
                Word left = 0;
                for (std::size_t v = 0; v <= last; ++v) left |= newly_implied[v] &= signature[v];
                if (left == 0) return augmentation.index;
            }
        }
        for (std::size_t w = 0; w <= last; ++w) {
            if (newly_implied[w] != 0) {
                return static_cast<std::uint32_t>(
                    w * word_bits + static_cast<std::size_t>(std::countr_zero(newly_implied[w])));
            }
        }
        return augmentation.index;
    }

    const Problem& problem_;
    const Limits& limits_;
    const bool has_core_queries_;
    BitSet extent_, implied_;  // rows of the query, and columns that contain all of them
    RatioOrder rows_;
    std::vector<Statistics> sums_;  // by column, as are
    std::vector<double> values_, bounds_;
    std::vector<RunningBound> running_;
};

}  // namespace

std::unique_ptr<Expander> make_paper_expander(const Problem& problem, const Limits& limits) {
    return std::make_unique<PaperExpander>(problem, limits);
}

}  // namespace rulesearch::conditions

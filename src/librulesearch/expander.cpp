#include "librulesearch/expander.hpp"

#include <algorithm>
#include <tuple>

namespace rulesearch {

Expander::Expander(const Problem& problem, const Limits& limits, Bound bound)
    : problem_(problem),
      limits_(limits),
      bound_(bound),
      has_core_queries_(has_core_queries(limits, problem.propositions.n_columns())),
      classes_(problem.propositions),
      augmented_(problem.propositions.n_columns()) {}

Expansion Expander::expand(const Node& node, const Pruning& can_prune, const Interrupt& interrupt) {
    Expansion out;
    collect_rows(node);
    if (is_redundant(node)) {
        ++out.counters.equivalence_immediate;
        out.is_complete = true;
        return out;
    }
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
    out.is_complete =
        n_conditions(node) >= limits_.max_conditions || branch(node, can_prune, interrupt, out);
    return out;
}

/// Sets: the rows of the query and the columns it implies.
void Expander::collect_rows(const Node& node) {
    const Propositions& propositions = problem_.propositions;
    extent_ = BitSet(propositions.n_distinct_rows(), true);
    for (const std::uint32_t column : node.query) extent_ &= propositions.extent(column);
    rows_.clear();
    implied_ = BitSet(propositions.n_columns(), true);
    extent_.for_each([&](std::size_t row) {
        rows_.push_back(static_cast<std::uint32_t>(row));
        implied_.intersect(propositions.signature(row));
    });
}

/// Augmentations that are not pruned by what is already known. Sets: `open_`.
BitSet Expander::select_candidates(const Node& node, const Pruning& can_prune, Expansion& out) {
    BitSet candidates(problem_.propositions.n_columns());
    open_.clear();
    const AugmentationList& augmentations = node.siblings->augmentations;
    for (std::size_t i = node.next_sibling; i < augmentations.size(); ++i) {
        const Augmentation& augmentation = augmentations[i];
        if (implied_.contains(augmentation.index)) {
            ++out.counters.equivalence_immediate;
        } else if (can_prune(augmentation.bound, n_conditions(node))) {
            ++out.counters.bound_propagated;
            out.relaxed_bound =
                std::max(out.relaxed_bound, can_prune.relaxation(augmentation.bound));
        } else if (is_redundant(node, augmentation)) {
            ++out.counters.equivalence_propagated;
        } else {
            candidates.insert(augmentation.index);
            open_.push_back(augmentation);
        }
    }
    return candidates;
}

/// Offers the best augmentations if they are as good as the incumbent.
void Expander::make_offers(const Node& node, const BitSet& candidates, const Pruning& can_prune,
                           Expansion& out) const {
    const auto value = [&](std::size_t column) {
        const Statistics& sums = augmented_.sums(column);
        return sums.coverage < limits_.min_coverage ? 0.0 : problem_.value(sums);
    };
    double best = 0.0;
    candidates.for_each([&](std::size_t column) { best = std::max(best, value(column)); });
    if (best == 0.0 || !can_prune.is_competitive(best)) return;
    candidates.for_each([&](std::size_t column) {
        if (value(column) < best) return;
        out.offers.push_back({best, node.query});
        out.offers.back().query.push_back(static_cast<std::uint32_t>(column));
    });
}

AugmentationList Expander::survivors(const Node& node, const Pruning& can_prune,
                                     Expansion& out) const {
    AugmentationList survivors;
    for (const Augmentation& augmentation : open_) {
        const double bound = augmented_.bound(augmentation.index);
        if (can_prune(bound, n_conditions(node) + 1)) {
            ++out.counters.bound_immediate;
            out.relaxed_bound = std::max(out.relaxed_bound, can_prune.relaxation(bound));
        } else if (augmented_.sums(augmentation.index).coverage >= limits_.min_coverage) {
            survivors.push_back({augmentation.index, augmentation.critical_index, bound});
        }
    }
    return survivors;
}

std::size_t Expander::drop_twins(AugmentationList& augmentations) const {
    const auto is_less = [&](const Augmentation& a, const Augmentation& b) {
        const Statistics &s = augmented_.sums(a.index), &t = augmented_.sums(b.index);
        return std::tie(s.gradient, s.hessian, s.coverage) <
               std::tie(t.gradient, t.hessian, t.coverage);
    };
    AugmentationList sorted = augmentations;
    std::stable_sort(sorted.begin(), sorted.end(), is_less);
    BitSet twins(problem_.propositions.n_columns());
    for (std::size_t first = 0, i = 1; i < sorted.size(); ++i) {
        if (is_less(sorted[first], sorted[i])) first = i;
        for (std::size_t k = first; k < i; ++k) {
            if (twins.contains(sorted[k].index)) continue;
            if (are_equal_within(extent_, problem_.propositions.extent(sorted[k].index),
                                 problem_.propositions.extent(sorted[i].index))) {
                twins.insert(sorted[i].index);
                break;
            }
        }
    }
    return std::erase_if(augmentations,
                         [&](const Augmentation& a) { return twins.contains(a.index); });
}

}  // namespace rulesearch

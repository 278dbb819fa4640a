#include "librulesearch/augmentations.hpp"

#include <algorithm>

namespace rulesearch {
namespace {

/// Calls `visit(position, sums)` for each class and each candidate that contains it; returns false
/// if it was interrupted.
template <typename Visitor>
bool for_each_membership(const RowClasses& classes, const std::vector<RowClass>& part,
                         std::size_t stride, const Interrupt& interrupt, Visitor&& visit) {
    constexpr std::size_t patience = 1024;  // classes between two looks at the clock
    for (std::size_t i = 0; i < part.size(); ++i) {
        if (i % patience == patience - 1 && interrupt.is_requested()) return false;
        const Statistics& sums = part[i].sums;
        const Word* signature = classes.signature(part[i]);
        for (std::size_t w = 0; w < stride; ++w) {
            for_each_bit(signature[w], w * word_bits,
                         [&](std::size_t position) { visit(position, sums); });
        }
    }
    return true;
}

}  // namespace

bool AugmentationTable::evaluate(const RowClasses& classes, const BitSet& candidates,
                                 double l2_regularization, const Interrupt& interrupt) {
    candidates.for_each([&](std::size_t position) { entries_[position] = {classes.base(), 0.0}; });
    return raise_bounds(classes, classes.positive(), candidates, l2_regularization, interrupt) &&
           raise_bounds(classes, classes.negative(), candidates, l2_regularization, interrupt) &&
           for_each_membership(classes, classes.neutral(), candidates.words().size(), interrupt,
                               [&](std::size_t position, const Statistics& sums) {
                                   entries_[position].sums += sums;
                               });
}

bool AugmentationTable::raise_bounds(const RowClasses& classes, const std::vector<RowClass>& part,
                                     const BitSet& candidates, double l2_regularization,
                                     const Interrupt& interrupt) {
    const RunningBound start(classes.base(), l2_regularization);
    candidates.for_each([&](std::size_t position) { running_[position] = start; });
    const bool is_complete =
        for_each_membership(classes, part, candidates.words().size(), interrupt,
                            [&](std::size_t position, const Statistics& sums) {
                                running_[position].add(sums.gradient, sums.hessian);
                                entries_[position].sums += sums;
                            });
    candidates.for_each([&](std::size_t position) {
        entries_[position].bound = std::max(entries_[position].bound, running_[position].bound());
    });
    return is_complete;
}

}  // namespace rulesearch

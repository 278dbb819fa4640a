// Bounds for the joint objective: those of the stagewise one, at a discount.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "librulesearch/problem/bits.hpp"
#include "librulesearch/problem/problem.hpp"

namespace rulesearch {

/// The rows of a set with hessians of which no more is left by refitted terms of any subset of it.
///
/// Of a subset S, refitted terms imitate at most h(S_c)^2 / h_c within a cell c, where h_c is the
/// sum over the whole cell: h(S_c) (1 - h(S_c) / h_c) is left at least, and h(S_c) is no larger
/// than that of the set. Hessians are rounded down so that their sums are exact.
class DiscountedRows {
  public:
    explicit DiscountedRows(const Problem& problem);

    /// By row of the set, in their order; until the next call. O(rows of the set).
    std::span<const Statistics> of(const BitSet& set);
    /// Hands over what the last call returned.
    std::vector<Statistics> take() { return std::move(rows_); }

  private:
    const Problem& problem_;
    double unit_ = 0.0;
    std::vector<double> in_set_;  // by cell: hessians, 0 between calls
    std::vector<Statistics> rows_;
};

/// A problem without refitted terms in which every subset of `set` is worth at least what it is in
/// the given one, if not too much more. O(all distinct rows).
Problem discounted(const Problem& problem, const BitSet& set);

/// Largest value that any subset of a set of distinct rows reaches; with refitted terms, an upper
/// bound on it. O(rows log rows).
double bound_within(const Problem& problem, const BitSet& set);

/// The same for all rows.
inline double bound_of_all_rows(const Problem& problem) {
    return bound_within(problem, BitSet(problem.extents.n_distinct_rows(), true));
}

}  // namespace rulesearch

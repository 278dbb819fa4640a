// How much of their hessians sets of rows keep beside refitted terms.
#pragma once

#include <cstddef>
#include <vector>

#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/problem/problem.hpp"
#include "librulesearch/tables/features.hpp"

namespace rulesearch::tables {

/// By column: refitted terms leave at least this share of the hessians of any set of its rows.
///
/// Terms imitate |b(S)|^2 of a set S, where b is the sum of a vector for each row. In the direction
/// u of b(S) that is the square of sum(sqrt(h) * u'b / sqrt(h)), hence at most H(S) u'X u with
/// X = sum(bb' / h), by the inequality of Cauchy and Schwarz. X grows with the set, so that for all
/// subsets of a column the largest eigenvalue of its X is a bound on the imitated share. It is
/// below 1 - s if (1 - s) I - X has a Cholesky decomposition.
///
/// O(rows * features * components^2).
std::vector<float> least_shares(const Problem& problem, const std::vector<Feature>& features);

/// By column: no query of that many conditions with it is worth more, unless it is worth less than
/// `value`. Infinite for columns of too small a share.
///
/// A set with G^2 / (lambda + share * H) >= value has G^2 / (lambda / share + H) >= share * value:
/// the bounds are those of the stagewise objective, see `column_bounds`. The axes are of all rows.
/// O(rows * axes).
std::vector<double> bounds_by_share(const Problem& problem, const std::vector<float>& shares,
                                    const std::vector<Axis>& axes, std::size_t n_conditions,
                                    double value, const Kernels& kernels);

}  // namespace rulesearch::tables

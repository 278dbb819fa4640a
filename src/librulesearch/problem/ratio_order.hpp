// The covered rows of a query in the order of the bounding theorem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "librulesearch/problem/bits.hpp"
#include "librulesearch/problem/problem.hpp"

namespace rulesearch {

/// Largest value of sums that take in rows one by one.
///
/// Bounding theorem: with the rows of one sign in descending |g/h| order, some best subset is one
/// of the sums met on the way.
class RunningBound {
  public:
    explicit RunningBound(double l2_regularization = 0.0) : l2_regularization_(l2_regularization) {}

    void add(const Statistics& row) {
        sum_gradients_ += row.gradient;
        sum_hessians_ += row.hessian;
        // The regularisation is added at the end, so that the sums stay exact.
        const double square = sum_gradients_ * sum_gradients_;
        const double denominator = l2_regularization_ + sum_hessians_;
        if (square > bound_ * denominator) bound_ = square / denominator;
    }

    double bound() const { return bound_; }

  private:
    double sum_gradients_ = 0.0;
    double sum_hessians_ = 0.0;
    double l2_regularization_;
    double bound_ = 0.0;
};

/// Rows with positive and with negative gradients, each in descending |g/h| order; the rest.
struct RatioOrder {
    std::vector<std::uint32_t> positive, negative, neutral;

    /// O(rows log rows).
    void assign(const Problem& problem, const BitSet& extent);

    /// Largest value of any subset. O(rows).
    double bound(const Problem& problem) const;
};

}  // namespace rulesearch

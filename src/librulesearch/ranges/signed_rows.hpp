// The rows of a table for boxes whose gradients add up to one sign.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "librulesearch/problem/problem.hpp"
#include "librulesearch/ranges/chains.hpp"

namespace rulesearch::ranges {

/// Rows in descending order of g/h, where g is the gradient or, for boxes of negative sum, its
/// opposite. A row that is worth its hessian comes before all that are not.
class SignedRows {
  public:
    /// O(chains * rows log rows).
    SignedRows(const Problem& problem, const Chains& chains, bool is_negative);

    std::size_t size() const { return statistics_.size(); }
    const Statistics& statistics(std::size_t row) const { return statistics_[row]; }
    /// Levels of a row, one per chain.
    const Level* levels(std::size_t row) const { return levels_.data() + row * n_chains_; }
    /// All rows by ascending level on a chain.
    const std::uint32_t* order(std::size_t chain) const { return order_.data() + chain * size(); }
    /// Their levels, in this order.
    const Level* ascending_levels(std::size_t chain) const {
        return ascending_levels_.data() + chain * size();
    }
    /// Sum of the positive gradients.
    double sum_gains() const { return sum_gains_; }
    /// No set of rows has a larger G / (lambda + H).
    double steepest_slope() const { return steepest_slope_; }

  private:
    std::size_t n_chains_;
    std::vector<Statistics> statistics_;
    std::vector<Level> levels_;            // by row and chain
    std::vector<std::uint32_t> order_;     // by chain
    std::vector<Level> ascending_levels_;  // by chain
    double sum_gains_ = 0.0;
    double steepest_slope_ = 0.0;
};

}  // namespace rulesearch::ranges

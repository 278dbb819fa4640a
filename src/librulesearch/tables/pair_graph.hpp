// Which conditions, and which two of them, can be part of a query that is good enough.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "librulesearch/problem/problem.hpp"
#include "librulesearch/tables/features.hpp"

namespace rulesearch::tables {

/// Pairs of columns that a query of a given number of conditions, worth at least a given value, may
/// have. All others are proven not to occur in one.
///
/// A set S of rows that is worth at least `value` has at the slope t = G / (lambda + H) a price
/// sum(2g - t h) - lambda t of at least value / t. Within the rows of two conditions the price is
/// at most that of all of them plus what further conditions take off the negative part: no more
/// than all of it, and no more than the largest amounts that single conditions take off the rows of
/// one of the two. Prices are lines in t, so that a grid of slopes is enough: if t times the price
/// is at most 2 / (q + 1/q) of the value at both ends of a step from t to q t, then it is at most
/// the value in between.
class PairGraph {
  public:
    /// `n_conditions`: of the queries in question, at least two. O(rows * axes^2 + columns^2).
    PairGraph(const Problem& problem, const std::vector<std::uint32_t>& rows,
              const std::vector<Axis>& axes, std::size_t n_conditions, double value);

    /// Valid as long as the graph is.
    AllowedPairs pairs() const { return {pairs_.data(), stride_}; }
    /// Columns that may be in a query.
    const BitSet& columns() const { return columns_; }

  private:
    void allow(std::uint32_t a, std::uint32_t b) {
        set_bit(pairs_, a * stride_ * word_bits + b);
        columns_.insert(a);
    }

    friend class PricedPairs;
    std::size_t stride_;
    std::vector<Word> pairs_;
    BitSet columns_;
};

}  // namespace rulesearch::tables

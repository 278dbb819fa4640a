// Which conditions, and which two of them, can be part of a query that is good enough.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "librulesearch/engine/control.hpp"
#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/problem/problem.hpp"
#include "librulesearch/tables/features.hpp"

namespace rulesearch::tables {

/// Slopes between which wanted sets of rows are.
struct SlopeRange {
    double low = 0.0;
    double high = std::numeric_limits<double>::infinity();

    bool is_empty() const { return low > high; }
};

/// Which queries are looked for among some rows: of so many conditions at most, worth at least a
/// value, with slopes in a range for sums of gradients above 0 and in another one for those below.
struct Question {
    std::span<const Statistics> rows;
    double l2_regularization;
    std::size_t n_conditions;
    double value;
    std::array<SlopeRange, 2> slopes = {};

    /// Whether prices can rule anything out.
    bool has_prices() const;
};

/// Whether some set among the rows may be worth the value: at a slope, all rows of positive prices
/// together are worth enough. O(rows).
bool may_hold(const Question& question, const Kernels& kernels);

/// Columns that a query may have; the slopes become narrower. All others are proven not to occur,
/// by the argument of the pair graph for single conditions. O(rows * axes).
BitSet possible_columns(Question& question, const std::vector<Axis>& axes, std::size_t n_columns,
                        const Kernels& kernels);

/// By column: no query with it is worth more, unless it is worth less than the value in question,
/// for which there must be prices. 0 for columns that are not on the axes. O(rows * axes).
std::vector<double> column_bounds(const Question& question, const std::vector<Axis>& axes,
                                  std::size_t n_columns, const Kernels& kernels);

/// Pairs of columns that a query may have. All others are proven not to occur in one.
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
    /// `question`: about queries of two conditions or more. O(rows * axes^2 + columns^2). If it is
    /// interrupted, what it says is wrong.
    PairGraph(Question& question, const std::vector<Axis>& axes, std::size_t n_columns,
              const AllowedPairs& inherited, const Kernels& kernels, const Interrupt& interrupt);

    /// The given pairs; nothing is known about bounds.
    PairGraph(std::size_t n_columns, const std::vector<std::array<std::uint32_t, 2>>& pairs);

    /// Valid as long as the graph is.
    AllowedPairs pairs() const { return {pairs_.data(), stride_}; }
    /// Columns that may be in a query.
    const BitSet& columns() const { return columns_; }
    /// No query of two or more conditions with this column is worth more, unless it is worth less
    /// than the value in question.
    double bound(std::size_t column) const { return bounds_[column]; }
    /// Possible partners of a column.
    BitSet neighbours(std::size_t column) const;
    /// Tables of prices that were filled.
    std::size_t n_tables() const { return n_tables_; }
    std::size_t n_bytes() const {
        return pairs_.size() * sizeof(Word) + bounds_.size() * sizeof(double);
    }

  private:
    void allow(std::uint32_t a, std::uint32_t b) {
        set_bit(pairs_, a * stride_ * word_bits + b);
        columns_.insert(a);
    }
    void allow_all(const std::vector<Axis>& axes, const AllowedPairs& inherited);
    SlopeRange allow_pairs(const Question& question, double sign, const std::vector<Axis>& axes,
                           const AllowedPairs& inherited, const Kernels& kernels,
                           const Interrupt& interrupt);

    std::size_t stride_;
    std::vector<Word> pairs_;
    BitSet columns_;
    std::vector<double> bounds_;  // by column
    std::size_t n_tables_ = 0;
};

}  // namespace rulesearch::tables

// The columns that a node branches over, in the order of its children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/kernels/keyed_rows.hpp"
#include "librulesearch/problem/extents.hpp"

namespace rulesearch::conditions {

/// A column that refinements worth more than the incumbent may contain.
struct Survivor {
    std::uint32_t position;  // bit of the rows' keys
    std::uint32_t column;
    double bound;
    double sum_gradients, sum_hessians;  // of its rows
};

/// Survivors in the order of children. A child is augmented by later survivors only: strong ones
/// come last, so that they get few candidates.
class ColumnOrder {
  public:
    explicit ColumnOrder(const Extents& extents) : extents_(extents) {}

    void clear() { survivors_.clear(); }
    void push(const Survivor& survivor) { survivors_.push_back(survivor); }
    std::size_t size() const { return survivors_.size(); }
    const Survivor& operator[](std::size_t t) const { return survivors_[t]; }
    auto begin() const { return survivors_.begin(); }
    auto end() const { return survivors_.end(); }

    /// Keeps the first of the survivors that cover the same rows; returns how many went.
    ///
    /// Exchanging a column for another one with the same rows under this query changes neither the
    /// extent nor the length of a refinement.
    std::size_t drop_equal_columns(const KeyedRows& rows);

    /// Sorts by bound, ascending.
    void sort();

    /// Sets: the keys of `to`, which has the rows of `from` first: bit t for survivor t.
    /// O(rows * planes).
    void write_keys(const KeyedRows& from, const Kernels& kernels, KeyedRows& to);

    /// Chains of the survivors in the planes from the first one given on; where they are not worth
    /// the effort, every one of `candidates` is a chain of its own.
    ChainsView chains(std::size_t first_plane, const std::vector<Word>& candidates) const;

  private:
    std::size_t make_bounds_monotone();
    void link_chains();

    const Extents& extents_;
    std::vector<Survivor> survivors_;
    bool has_chains_ = false;
    std::vector<std::int32_t> below_;  // by survivor: the next smaller one in its chain, or -1
    std::vector<Word> tops_;           // survivors with none above them
    std::vector<double> chain_bounds_;
    std::vector<std::int32_t> chain_tops_;
    std::vector<std::uint32_t> by_sums_, equal_columns_;
    std::vector<Word> columns_;  // of 64 rows, by position
};

}  // namespace rulesearch::conditions

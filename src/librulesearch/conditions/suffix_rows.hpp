// The rows of a node as its children see them, one child after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "librulesearch/kernels/keyed_rows.hpp"

namespace rulesearch::conditions {

/// Walks over children t = 0, 1, ... of rows that are distinct and in descending order of their
/// keys, read as numbers. Clearing the lowest bit used leaves them in order, and rows that have
/// become equal are neighbours.
class SuffixRows {
  public:
    /// Sets: the rows of child 0's parent.
    void assign(const KeyedRows& rows) { rows_ = rows; }

    /// What is left of the rows: distinct in the bits from t on.
    const KeyedRows& rows() const { return rows_; }

    /// Sets: the rows of child t without those in none or in all of its candidates, and the rest;
    /// returns false if the child has no proper refinement.
    bool next_child(std::size_t t);

    /// All rows of the child.
    const KeyedRows& child() const { return child_; }
    RowsView free_rows() const { return free_; }
    const ForcedRows& forced() const { return forced_; }
    /// Candidates of the child, those that neither all nor none of its rows lie in; in the planes
    /// from that of t on.
    const std::vector<Word>& candidates() const { return candidates_; }

  private:
    void clear_bit(std::size_t t);

    KeyedRows rows_, child_;
    RowsView free_{};
    ForcedRows forced_;
    std::vector<Word> candidates_;
    std::vector<std::uint32_t> selected_;
};

}  // namespace rulesearch::conditions

// The orders that an expansion brings rows into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "librulesearch/kernels/keyed_rows.hpp"

namespace rulesearch::conditions {

/// Sorts rows; keeps its buffers from node to node. O(rows * log(rows)) each.
class RowOrders {
  public:
    /// Sets: `to`, first the rows with gradients above 0, then those below 0, each in descending
    /// |g/h| order, then the rest; the numbers of the former two.
    void sort_by_ratio(const KeyedRows& from, KeyedRows& to);
    std::size_t n_positive() const { return positive_.size(); }
    std::size_t n_negative() const { return negative_.size(); }

    /// Sets: `to`, in descending order of the keys; the last plane counts most.
    void sort_by_key(const KeyedRows& from, KeyedRows& to);

  private:
    struct Key {
        Word key;
        std::uint32_t row;
    };
    /// Fewer keys are sorted faster by comparing them.
    static constexpr std::size_t min_by_digits = 128;

    void sort_descending(std::vector<Key>& keys);

    std::vector<Key> positive_, negative_, keys_, sorted_;
    std::vector<std::uint32_t> permutation_;
};

}  // namespace rulesearch::conditions

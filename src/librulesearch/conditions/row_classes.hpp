// Rows with equal keys, added up while they are collected.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "librulesearch/kernels/keyed_rows.hpp"

namespace rulesearch::conditions {

/// Finds the row with a given key; keeps its memory from node to node.
class RowClasses {
  public:
    /// Sets: no rows, and room to find up to `capacity` of them.
    void reset(std::size_t capacity) { slots_.assign(std::bit_ceil(2 * capacity + 1), none); }

    /// Appends a row whose key stands behind the last one already, or adds it to the row that has
    /// this key. O(planes) on average.
    void push(const Statistics& sums, KeyedRows& rows) {
        const std::size_t i = rows.size();
        std::size_t slot = hash(rows, i) & (slots_.size() - 1);
        while (slots_[slot] != none && !rows.are_equal(slots_[slot], i))
            slot = (slot + 1) & (slots_.size() - 1);
        if (slots_[slot] == none) {
            slots_[slot] = static_cast<std::uint32_t>(i);
            rows.push(sums);
        } else {
            rows.add(slots_[slot], sums);
        }
    }

  private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    static std::size_t hash(const KeyedRows& rows, std::size_t i) {
        Word mixed = 0;
        for (std::size_t p = 0; p < rows.n_planes(); ++p) {
            // Multiplying by an odd constant carries every bit upwards, the rotation back down.
            mixed = std::rotl((mixed ^ rows.plane(p)[i]) * 0x9e3779b97f4a7c15, 32);
        }
        return static_cast<std::size_t>(mixed * 0x9e3779b97f4a7c15 >> 16);
    }

    std::vector<std::uint32_t> slots_;
};

}  // namespace rulesearch::conditions

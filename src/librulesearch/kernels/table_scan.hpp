// Tables of sums over a few features: all sets of rows that a few conditions cut out of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "librulesearch/problem/bits.hpp"

namespace rulesearch {

/// How to get the sum over a mask: from the sum over another one, by adding and taking off bins.
struct MaskStep {
    std::int32_t parent;      // -1 for nothing, 0 for all bins, else 1 + a single mask before it
    std::uint32_t begin;      // of its bins
    std::uint16_t n_added;    // at least one if there is no parent
    std::uint16_t n_removed;  // behind the added ones
};

/// Masks over the bins of one feature; the first `n_singles` are single conditions, the others what
/// two of them have in common.
struct TableAxis {
    std::size_t n_bins;
    std::size_t n_singles;
    std::size_t n_masks;
    const MaskStep* masks;
    const std::uint8_t* bins;
    const std::array<std::uint32_t, 2>* columns;  // by mask; twice the same for single conditions
};

/// What is added up over sets of rows, in whole numbers: G, what G^2 has to make up for (J), what
/// helps it (a vector, of which the squares count), and the coverage.
struct TableSums {
    std::size_t n_components = 0;  // of the vector
    bool has_coverage = false;

    std::size_t size() const { return 2 + n_components + (has_coverage ? 1 : 0); }
    /// Numbers from one row or cell to the next where all sums of one are side by side.
    std::size_t stride() const { return size() <= 4 ? (size() + 1) / 2 * 2 : (size() + 7) / 8 * 8; }
};

/// Rows as they are added to a table over some axes: the cell of a row is that of its bin on the
/// last axis, behind the first one of its bins on the others.
struct PackedRows {
    const std::uint32_t* base;    // by row: the number of its bins on all axes but the last
    const std::uint8_t* codes;    // by row: its bin on the last one
    const std::int32_t* entries;  // sums, those of a row side by side
    std::size_t size;
};

/// The last masks of sets, which are looked at together. Each cell of a table has a row of numbers
/// for them: the first sum for all *lanes*, then the next one, in the order of `TableSums`.
struct Lanes {
    std::size_t size = 0;  // in whole blocks
    TableSums sums = {};

    std::size_t row_size() const { return sums.size() * size; }
};

/// Lanes come in whole blocks of this many.
inline constexpr std::size_t lane_block = 8;

constexpr std::size_t padded_lanes(std::size_t n) {
    return (n + lane_block - 1) / lane_block * lane_block;
}

/// Lanes may be filled so many at a time: there is room for as many behind the last one.
inline constexpr std::size_t lanes_at_once = 16;

inline constexpr std::size_t max_outer_axes = 3;

/// A table over one to three axes and lanes, and which sets to look for in it.
struct TableScan {
    std::size_t n_axes;
    TableAxis axes[max_outer_axes];
    Lanes lanes;
    /// How many masks of two conditions a set may have on the axes.
    std::size_t n_pairs;
    /// Pairs of columns that a set may have, a row of bits for each column; null for all pairs.
    /// Lanes are not looked at.
    const Word* pairs;
    std::size_t pair_stride;  // words of a row
    /// Shares of J that count: of a set, the largest share of its columns (by column) and of its
    /// lane (by lane). Null for all of J.
    const float* shares;
    const float* lane_shares;
    /// Sets with G^2 + sum(squares) - scale * share * J > threshold are wanted, if they cover
    /// enough, and if G^2 by itself is above `least_square`. Squares are those of the vector,
    /// scaled; there are none beside shares.
    float scale;
    float threshold;
    float least_square;
    const float* square_scales;  // by component
    std::int32_t min_coverage;
    const std::int32_t* cells;  // the last axis fastest
    std::int32_t* buffer;       // room for `scan_buffer_size` numbers
    /// Told the number of the mask on each axis, and the lane.
    void (*on_hit)(void* context, const std::uint32_t* masks, std::size_t lane);
    /// Asked now and then: whether to leave the rest of the table.
    bool (*is_stopped)(void* context);
    void* context;
};

/// Numbers that a scan needs room for.
inline std::size_t scan_buffer_size(const TableScan& scan) {
    std::size_t row_size = scan.lanes.row_size();
    std::size_t size = 0;
    for (std::size_t axis = scan.n_axes; axis-- > 0;) {
        size += row_size * (scan.axes[axis].n_singles + 2);
        row_size *= scan.axes[axis].n_bins;
    }
    return size;
}

}  // namespace rulesearch

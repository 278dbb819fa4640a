// Columns as sets of bins: what tables over a few features are made of.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "librulesearch/kernels/table_scan.hpp"
#include "librulesearch/problem/extents.hpp"

namespace rulesearch::tables {

inline constexpr std::size_t max_bins = 256;  // a code is a byte

/// A set of bins.
using Mask = std::bitset<max_bins>;

/// A partition of the rows into *bins* by some columns, each of which is a set of bins. Thresholds
/// or categories of one feature of a table have few bins together; columns that follow nothing
/// have two of their own.
struct Feature {
    std::vector<std::uint32_t> columns;
    std::vector<std::uint8_t> codes;  // by distinct row: its bin
    std::size_t n_bins = 1;
    std::vector<Mask> masks;  // by column
};

/// Sorts the columns into features, once. O(rows * columns * bins), in words of bits.
const std::vector<Feature>& find_features(const Extents& extents);

/// The columns of one or more features as masks over bins, among some of the rows.
struct Axis {
    std::vector<std::uint8_t> codes;  // by row, of those in question
    std::size_t n_bins = 1;
    std::size_t n_singles = 0;
    std::vector<MaskStep> masks;
    std::vector<std::uint8_t> bins;
    std::vector<std::array<std::uint32_t, 2>> columns;  // by mask; twice the same for singles

    TableAxis view() const {
        return {n_bins, n_singles, masks.size(), masks.data(), bins.data(), columns.data()};
    }
};

/// Pairs of columns that a query may have: rows of bits, one for each column; none for all pairs.
struct AllowedPairs {
    const Word* bits = nullptr;
    std::size_t stride = 0;  // words of a row

    bool operator()(std::uint32_t a, std::uint32_t b) const {
        return bits == nullptr || has_bit(bits + a * stride, b);
    }
};

/// Axes for some rows and columns, ascending in their number of singles. Bins that no column tells
/// apart are one; columns that cover all rows or none are left out, and of those with equal extents
/// all but one. Features with few bins are joined as long as they have no more than
/// `max_joined_bins` together, so that fewer tables hold all combinations. Masks of two conditions
/// are made if `has_pairs`, of pairs that are allowed.
std::vector<Axis> make_axes(const std::vector<Feature>& features,
                            std::span<const std::uint32_t> rows, const BitSet& allowed_columns,
                            std::size_t max_joined_bins, bool has_pairs,
                            const AllowedPairs& is_allowed = {});

}  // namespace rulesearch::tables

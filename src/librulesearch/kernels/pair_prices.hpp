// Prices of rows at a few slopes, added up over all pairs of conditions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "librulesearch/kernels/table_scan.hpp"

namespace rulesearch {

/// Slopes that are looked at together.
inline constexpr std::size_t n_prices = 8;

/// Sums of prices of rows, in whole numbers, by slope.
struct Prices {
    std::int32_t sum[n_prices];
    std::int32_t negative[n_prices];  // magnitude of the negative ones
};

/// Rows with a bin on each of two axes, or on one.
struct PriceTable {
    const Prices* rows;
    std::size_t n_rows;
    TableAxis outer, inner;
    const std::uint8_t* outer_codes;
    const std::uint8_t* inner_codes;
    Prices* cells;  // room for all bins of one by all bins of the other, all 0
    Prices* slots;  // room for the outer single masks and one more, by all inner bins
};

/// Of each condition: what is left of the rows, and the largest amounts that others take off the
/// negative part of that, by slope; then their sums.
struct PricedConditions {
    std::size_t size;
    std::size_t n_further;        // that may be taken besides two
    const Prices* singles;        // by condition
    const Prices* pairs;          // all pairs, (0, 1), (0, 2) ... (1, 2) ...
    const std::uint8_t* is_open;  // by pair: whether it is to be looked at
    std::int32_t* taken;          // n_prices numbers for each condition: room for the sums
    std::int32_t* largest;        // and n_further times that, all 0
    const std::int32_t* needed;   // by slope: prices must be larger
    std::uint8_t* is_possible;    // by pair
    std::int32_t* reach;  // by condition: largest price of a possible pair with it, by slope
};

}  // namespace rulesearch

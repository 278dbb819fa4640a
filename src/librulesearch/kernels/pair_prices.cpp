// Prices of rows, of conditions and of pairs of them.
//
// Plain loops over a fixed number of slopes, which compilers turn into vectors.

#include "librulesearch/kernels/pair_prices.hpp"

#include <algorithm>
#include <cmath>

#include "librulesearch/kernels/kernel_functions.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {
namespace {

inline void add(Prices& out, const Prices& in) {
    for (std::size_t t = 0; t < n_prices; ++t) out.sum[t] += in.sum[t];
    for (std::size_t t = 0; t < n_prices; ++t) out.negative[t] += in.negative[t];
}
inline void subtract(Prices& out, const Prices& in) {
    for (std::size_t t = 0; t < n_prices; ++t) out.sum[t] -= in.sum[t];
    for (std::size_t t = 0; t < n_prices; ++t) out.negative[t] -= in.negative[t];
}

/// Adds up rows of `size` prices per bin over the single masks of an axis; the first slot is for
/// all bins, one for each mask follows.
void sum_masks(const TableAxis& axis, const Prices* bins, std::size_t size, Prices* slots) {
    const auto copy_row = [&](Prices* out, const Prices* in) { std::copy(in, in + size, out); };
    const auto add_row = [&](Prices* out, const Prices* in) {
        for (std::size_t k = 0; k < size; ++k) add(out[k], in[k]);
    };
    copy_row(slots, bins);
    for (std::size_t bin = 1; bin < axis.n_bins; ++bin) add_row(slots, bins + bin * size);
    for (std::size_t mask = 0; mask < axis.n_singles; ++mask) {
        const MaskStep& step = axis.masks[mask];
        const std::uint8_t* bin = axis.bins + step.begin;
        const std::uint8_t* const added = bin + step.n_added;
        const std::uint8_t* const removed = added + step.n_removed;
        Prices* slot = slots + (mask + 1) * size;
        copy_row(slot, step.parent < 0 ? bins + *bin++ * size
                                       : slots + static_cast<std::size_t>(step.parent) * size);
        while (bin != added) add_row(slot, bins + *bin++ * size);
        while (bin != removed) {
            const Prices* in = bins + *bin++ * size;
            for (std::size_t k = 0; k < size; ++k) subtract(slot[k], in[k]);
        }
    }
}

/// Keeps the largest amounts, in descending order by slope.
inline void note_taken(const Prices& single, const Prices& both, std::size_t n_further,
                       std::int32_t* largest) {
    std::int32_t amount[n_prices];
    for (std::size_t t = 0; t < n_prices; ++t) amount[t] = single.negative[t] - both.negative[t];
    for (std::size_t k = 0; k < n_further; ++k, largest += n_prices) {
        for (std::size_t t = 0; t < n_prices; ++t) {
            const std::int32_t larger = std::max(amount[t], largest[t]);
            amount[t] = std::min(amount[t], largest[t]);
            largest[t] = larger;
        }
    }
}

}  // namespace

void sum_gains(const double* gradients, const double* hessians, std::size_t n_rows,
               const double* slopes, double* sums) {
    double total[n_prices] = {};
    for (std::size_t row = 0; row < n_rows; ++row) {
        for (std::size_t t = 0; t < n_prices; ++t) {
            const double price = 2.0 * gradients[row] - slopes[t] * hessians[row];
            total[t] += price > 0.0 ? price : 0.0;
        }
    }
    std::copy(total, total + n_prices, sums);
}

void price_rows(const double* gradients, const double* hessians, std::size_t n_rows,
                const double* slopes, const double* scales, Prices* prices) {
    // Far more than the rounding of two products, far less than a unit.
    constexpr double slack = 1e-6;
    for (std::size_t row = 0; row < n_rows; ++row) {
        for (std::size_t t = 0; t < n_prices; ++t) {
            const double price = 2.0 * gradients[row] - slopes[t] * hessians[row];
            const auto whole = static_cast<std::int32_t>(std::ceil(price * scales[t] + slack));
            prices[row].sum[t] = whole;
            prices[row].negative[t] = whole < 0 ? -whole : 0;
        }
    }
}

void price_singles(const PriceTable& table) {
    for (std::size_t row = 0; row < table.n_rows; ++row)
        add(table.cells[table.inner_codes[row]], table.rows[row]);
    sum_masks(table.inner, table.cells, 1, table.slots);
}

void price_pairs(const PriceTable& table) {
    const std::size_t n_inner = table.inner.n_bins;
    for (std::size_t row = 0; row < table.n_rows; ++row)
        add(table.cells[table.outer_codes[row] * n_inner + table.inner_codes[row]],
            table.rows[row]);
    sum_masks(table.outer, table.cells, n_inner, table.slots);
}

void price_masks(const TableAxis& axis, const Prices* bins, Prices* slots) {
    sum_masks(axis, bins, 1, slots);
}

void find_possible_pairs(const PricedConditions& conditions) {
    const std::size_t n = conditions.size, n_further = conditions.n_further;
    const auto largest = [&](std::size_t a) {
        return conditions.largest + a * n_further * n_prices;
    };
    std::size_t pair = 0;
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = a + 1; b < n; ++b, ++pair) {
            if (conditions.is_open[pair] == 0) continue;
            note_taken(conditions.singles[a], conditions.pairs[pair], n_further, largest(a));
            note_taken(conditions.singles[b], conditions.pairs[pair], n_further, largest(b));
        }
    for (std::size_t a = 0; a < n; ++a) {
        std::int32_t* taken = conditions.taken + a * n_prices;
        std::fill(taken, taken + n_prices, 0);
        for (std::size_t k = 0; k < n_further; ++k)
            for (std::size_t t = 0; t < n_prices; ++t) taken[t] += largest(a)[k * n_prices + t];
    }
    pair = 0;
    for (std::size_t a = 0; a < n; ++a) {
        const std::int32_t* taken_a = conditions.taken + a * n_prices;
        std::int32_t* reach_a = conditions.reach + a * n_prices;
        for (std::size_t b = a + 1; b < n; ++b, ++pair) {
            if (conditions.is_open[pair] == 0) continue;
            const std::int32_t* taken_b = conditions.taken + b * n_prices;
            const Prices& both = conditions.pairs[pair];
            std::int32_t price[n_prices];
            std::int32_t any = 0;
            for (std::size_t t = 0; t < n_prices; ++t) {
                const std::int32_t taken = std::min(taken_a[t], taken_b[t]);
                price[t] = both.sum[t] + std::min(both.negative[t], taken);
                any |= price[t] > conditions.needed[t] ? 1 : 0;
            }
            conditions.is_possible[pair] = static_cast<std::uint8_t>(any);
            if (any == 0) continue;
            std::int32_t* reach_b = conditions.reach + b * n_prices;
            for (std::size_t t = 0; t < n_prices; ++t) {
                reach_a[t] = std::max(reach_a[t], price[t]);
                reach_b[t] = std::max(reach_b[t], price[t]);
            }
        }
    }
}

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

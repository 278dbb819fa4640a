// Sums over the bins of numeric features, which slopes are valued by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulesearch {

/// The rows of a feature, or those of them that are stored, with their bins and numbers.
struct BinnedFeature {
    const std::uint8_t* bins;
    const double* numbers;
    std::ptrdiff_t number_step;  // from one number to the next
    std::size_t size;
    const std::int32_t* rows;  // the stored ones; null for all
    double low, high;          // numbers beyond them count as if they were there

    /// On a scale from 0 to 1; 0 where the number is missing.
    double level(std::size_t i) const {
        const double number = numbers[static_cast<std::ptrdiff_t>(i) * number_step];
        if (number != number) return 0.0;
        const double inside = number < low ? low : number > high ? high : number;
        return (inside - low) / (high - low);
    }
};

/// Adds up columns of numbers, times the powers 0, 1, ... of the levels, over the bins of each
/// feature: `sums` has the shape (features, powers, bins, columns) and is 0 before. Each sum is
/// added to in the order of the rows, whatever the number of workers.
/// O(rows * features * powers * columns).
void sum_bins(std::span<const BinnedFeature> features, const std::vector<const double*>& columns,
              std::size_t n_rows, std::size_t n_powers, std::size_t n_bins, std::size_t n_workers,
              double* sums);

}  // namespace rulesearch

// Rounding of statistics so that every order of adding them up gives the same sum.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rulesearch {

/// Writes the products of values and weights, rounded to multiples of a common power of two that is
/// so small, 2^-51 of their total magnitude or less, that the rest does not matter, and so large
/// that all partial sums are exact. Returns the total magnitude; if it is not finite, nothing is
/// written.
///
/// `weights` may be null for ones; they must not be negative. Where all are small whole numbers, a
/// product is the rounded value times the weight, as if the row was there that many times. If no
/// product is negative, positive ones stay positive. O(count).
double exactly_summable(const double* values, const double* weights, std::size_t count,
                        double* rounded);

/// Sum of the values of covered rows, those whose byte is not 0. O(count).
double sum_covered(const std::uint8_t* covered, const double* values, std::size_t count);

}  // namespace rulesearch

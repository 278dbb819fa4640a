// Tangents and chords of what a set of rows can be worth, on a grid of slopes; see
// tangent_proof.cpp.
#pragma once

#include <cmath>

#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/kernels/simd.hpp"
#include "librulesearch/kernels/slope_vector.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {
namespace {

inline double smaller_of(double a, double b) { return a < b ? a : b; }
inline double larger_of(double a, double b) { return a > b ? a : b; }

/// What the rows add up to; exact, so that the order does not matter.
struct Totals {
    double gains[2] = {0.0, 0.0};  // positive gradients, and negative ones with the sign changed
    double steepest[2] = {0.0, 0.0};
    double hessian = 0.0;
};

Totals totals_of(const RowsView& rows) {
    Vector gains[2] = {splat(0.0), splat(0.0)}, steepest[2] = {splat(0.0), splat(0.0)};
    Vector hessians = splat(0.0);
    std::size_t i = 0;
    for (; i + width <= rows.size; i += width) {
        const Vector g = load(rows.gradients + i), h = load(rows.hessians + i);
        const Vector ratio = g / h;
        gains[0] += larger(g, splat(0.0));
        gains[1] -= smaller(g, splat(0.0));
        hessians += h;
        // A row without hessian has an infinite ratio, or none if it has no gradient either.
        steepest[0] = larger(ratio, steepest[0]);
        steepest[1] = larger(splat(0.0) - ratio, steepest[1]);
    }
    Totals totals;
    for (int s = 0; s < 2; ++s) {
        totals.gains[s] = sum_of(gains[s]);
        totals.steepest[s] = largest_of(steepest[s]);
    }
    totals.hessian = sum_of(hessians);
    for (; i < rows.size; ++i) {
        const double g = rows.gradients[i], ratio = g / rows.hessians[i];
        totals.gains[0] += larger_of(g, 0.0);
        totals.gains[1] -= smaller_of(g, 0.0);
        totals.hessian += rows.hessians[i];
        totals.steepest[0] = larger_of(ratio, totals.steepest[0]);
        totals.steepest[1] = larger_of(-ratio, totals.steepest[1]);
    }
    return totals;
}

/// Upper bounds of psi for unions with a positive (`sign` 1) or a negative (-1) sum of gradients.
class TangentGrid {
  public:
    TangentGrid(const RowsView& rows, const Totals& totals, double sign, const ForcedRows& forced,
                double l2_regularization)
        : rows_(rows),
          sign_(sign),
          forced_gain_(sign * forced.gradient),
          forced_cost_(l2_regularization + forced.hessian),
          free_gain_(totals.gains[sign < 0.0]),
          // What all rows together are worth, positive and negative prices.
          total_gain_(sign * (totals.gains[0] - totals.gains[1])),
          total_cost_(totals.hessian),
          steepest_(totals.steepest[sign < 0.0]) {}

    double max_gain() const { return forced_gain_ + free_gain_; }

    /// Sets: the grid for a value. Returns whether it proves that no union is worth more. O(rows).
    bool is_proven_below(double value) {
        const double max_gain = this->max_gain();
        if (max_gain <= 0.0) return true;
        // Sums of prices are rounded: leave room for that, in proportion to what may cancel.
        const double square = max_gain * max_gain;
        const double cancellation = 1.0 + 4.0 * square / (value * larger_of(forced_cost_, 1e-300));
        const double slack = 1e-12 + 1e-15 * static_cast<double>(rows_.size + 16) * cancellation;
        is_hopeless_ = true;
        if (!(slack < 1e-3)) return false;
        value_ = value * (1.0 - slack);
        if (square <= value_ * forced_cost_) return true;
        const double low = value_ / max_gain;
        double high = steepest_;
        if (forced_gain_ > 0.0) high = larger_of(high, forced_gain_ / forced_cost_);
        if (forced_cost_ > 0.0) {
            const double root = std::sqrt(square - value_ * forced_cost_);
            high = smaller_of(high, (max_gain + root) / forced_cost_);
        }
        high *= 1.0 + 1e-12;
        if (!(high < 1e300)) return false;
        if (high <= low) return true;
        is_hopeless_ = false;
        lay_grid(low, high);
        std::size_t first = 0, last = 0;
        if (is_below(psi_, &first, &last)) return true;
        lay_grid(slopes_[first], slopes_[last]);
        return is_below(psi_, &first, &last);
    }

    /// To be called if the grid is no proof: whether it would be one if all positive prices were
    /// set off, as far as negative ones last.
    bool can_be_proven() const {
        if (is_hopeless_) return false;
        double best[n_slopes];
        for (std::size_t j = 0; j < n_slopes; ++j) {
            const double negative = positive_[j] - (2.0 * total_gain_ - slopes_[j] * total_cost_);
            best[j] = psi_[j] - smaller_of(positive_[j], negative);
        }
        return is_below(SlopeVector::from(best));
    }

    /// Twice the gradient, towards the sign.
    double gain(std::size_t row) const { return 2.0 * sign_ * rows_.gradients[row]; }
    SlopeVector prices(std::size_t row) const {
        return reduced(gain(row), SlopeVector::from(slopes_), rows_.hessians[row]);
    }

    /// Whether slope * chord <= value everywhere; else the ends of the part of the grid where not.
    ///
    /// The chord c + a * slope, times the slope, is largest at -c / 2a if that lies inside.
    bool is_below(const double* psi, std::size_t* first, std::size_t* last) const {
        bool holds = true;
        for (std::size_t j = 0; j + 1 < n_slopes; ++j) {
            const double left = slopes_[j], right = slopes_[j + 1];
            const double a = (psi[j + 1] - psi[j]) * inverse_steps_[j];
            const double c = psi[j] - a * left;
            bool is_above = left * psi[j] > value_ || right * psi[j + 1] > value_;
            if (c > -2.0 * a * left && c < -2.0 * a * right) {
                const double peak = -0.5 * c / a;
                is_above |= peak * (psi[j] + a * (peak - left)) > value_;
            }
            if (!is_above) continue;
            if (holds) *first = j;
            *last = j + 1;
            holds = false;
        }
        return holds;
    }
    bool is_below(const SlopeVector& psi) const {
        double numbers[n_slopes];
        psi.to(numbers);
        std::size_t first = 0, last = 0;
        return is_below(numbers, &first, &last);
    }

    const double* slopes() const { return slopes_; }
    const double* psi() const { return psi_; }
    /// The sum of positive prices at a slope.
    double positive(std::size_t j) const { return positive_[j]; }

  private:
    /// Sets: the slopes and an upper bound of psi at each. Rows are added in four turns, so that an
    /// addition need not wait for the one before it.
    void lay_grid(double low, double high) {
        const double factor = std::pow(high / low, 1.0 / static_cast<double>(n_slopes - 1));
        slopes_[0] = low;
        for (std::size_t j = 1; j + 1 < n_slopes; ++j) slopes_[j] = slopes_[j - 1] * factor;
        slopes_[n_slopes - 1] = high;
        for (std::size_t j = 0; j + 1 < n_slopes; ++j) {
            const double step = slopes_[j + 1] - slopes_[j];
            inverse_steps_[j] = step > 0.0 ? 1.0 / step : 0.0;
        }

        constexpr std::size_t n_turns = 4;
        SlopeVector sums[n_turns];
        for (SlopeVector& sum : sums) sum = SlopeVector::all(0.0);
        std::size_t i = 0;
        for (; i + n_turns <= rows_.size; i += n_turns) {
            for (std::size_t turn = 0; turn < n_turns; ++turn)
                sums[turn] += positive_part(prices(i + turn));
        }
        for (; i < rows_.size; ++i) sums[0] += positive_part(prices(i));
        for (std::size_t turn = 1; turn < n_turns; ++turn) sums[0] += sums[turn];
        sums[0].to(positive_);
        for (std::size_t j = 0; j < n_slopes; ++j)
            psi_[j] = 2.0 * forced_gain_ - slopes_[j] * forced_cost_ + positive_[j];
    }

    const RowsView& rows_;
    const double sign_;
    const double forced_gain_, forced_cost_, free_gain_, total_gain_, total_cost_, steepest_;
    double value_ = 0.0;
    bool is_hopeless_ = false;
    double slopes_[n_slopes], inverse_steps_[n_slopes], positive_[n_slopes], psi_[n_slopes];
};

}  // namespace
}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

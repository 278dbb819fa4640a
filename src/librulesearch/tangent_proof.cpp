#include "librulesearch/tangent_proof.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rulesearch {

template <std::size_t K>
bool TangentProof<K>::holds(std::span<const Row> rows, const ForcedRows& forced,
                            double l2_regularization, double value) {
    return value > 0.0 && holds_for_sign(rows, 1.0, forced, l2_regularization, value) &&
           holds_for_sign(rows, -1.0, forced, l2_regularization, value);
}

template <std::size_t K>
bool TangentProof<K>::holds_for_sign(std::span<const Row> rows, double sign,
                                     const ForcedRows& forced, double l2_regularization,
                                     double value) {
    const double forced_gain = sign * forced.gradient;
    const double forced_cost = l2_regularization + forced.hessian;
    double largest_gain = forced_gain;
    double steepest = forced_gain > 0.0 ? forced_gain / forced_cost : 0.0;
    for (const Row& row : rows) {
        const double gain = sign * row.gradient;
        if (gain <= 0.0) continue;
        largest_gain += gain;
        steepest = std::max(steepest, gain / row.hessian);
    }
    if (largest_gain <= 0.0) return true;
    // Sums of prices are rounded: leave room for that, in proportion to what may cancel.
    const double square = largest_gain * largest_gain;
    const double cancellation = 1.0 + 4.0 * square / (value * std::max(forced_cost, 1e-300));
    const double slack = 1e-12 + 1e-15 * static_cast<double>(rows.size() + 16) * cancellation;
    if (!(slack < 1e-3)) return false;
    value *= 1.0 - slack;
    if (square <= value * forced_cost) return true;
    const double low = value / largest_gain;
    double high = steepest;
    if (forced_cost > 0.0) {
        const double root = std::sqrt(square - value * forced_cost);
        high = std::min(high, (largest_gain + root) / forced_cost);
    }
    high *= 1.0 + 1e-12;
    if (!std::isfinite(high)) return false;
    if (high <= low) return true;

    const auto start_psi = [&] {
        for (std::size_t j = 0; j < n_slopes; ++j)
            psi_[j] = 2.0 * forced_gain - slopes_[j] * forced_cost;
    };
    lay_grid(low, high);
    start_psi();
    add_prices(rows, sign);
    std::size_t first = 0, last = 0;
    if (is_below(psi_, value, &first, &last)) return true;
    lay_grid(slopes_[first], slopes_[last]);
    start_psi();
    add_prices(rows, sign);
    if (is_below(psi_, value)) return true;
    return holds_by_closure(rows, sign, value);
}

template <std::size_t K>
void TangentProof<K>::lay_grid(double low, double high) {
    const double factor = std::pow(high / low, 1.0 / static_cast<double>(n_slopes - 1));
    slopes_[0] = low;
    for (std::size_t j = 1; j + 1 < n_slopes; ++j) slopes_[j] = slopes_[j - 1] * factor;
    slopes_[n_slopes - 1] = high;
}

template <std::size_t K>
void TangentProof<K>::add_prices(std::span<const Row> rows, double sign) {
    for (const Row& row : rows) {
        const double gain = 2.0 * sign * row.gradient;
        for (std::size_t j = 0; j < n_slopes; ++j) {
            const double price = gain - slopes_[j] * row.hessian;
            psi_[j] += price > 0.0 ? price : 0.0;
        }
    }
}

/// Whether slope * chord <= value everywhere; else the ends of the part of the grid where not.
template <std::size_t K>
bool TangentProof<K>::is_below(const Lanes& psi, double value, std::size_t* first,
                               std::size_t* last) const {
    bool holds = true;
    for (std::size_t j = 0; j + 1 < n_slopes; ++j) {
        const double x = slopes_[j], width = slopes_[j + 1] - x;
        double top = std::max(x * psi[j], slopes_[j + 1] * psi[j + 1]);
        const double incline = width > 0.0 ? (psi[j + 1] - psi[j]) / width : 0.0;
        if (incline < 0.0) {
            const double peak = std::clamp(0.5 * (x - psi[j] / incline), x, slopes_[j + 1]);
            top = std::max(top, peak * (psi[j] + incline * (peak - x)));
        }
        if (top <= value) continue;
        if (first == nullptr) return false;
        if (holds) *first = j;
        *last = j + 1;
        holds = false;
    }
    return holds;
}

template <std::size_t K>
bool TangentProof<K>::holds_by_closure(std::span<const Row> rows, double sign, double value) {
    takers_.clear();
    holders_.clear();
    taker_rows_.clear();
    holder_rows_.clear();
    Lanes sum_taken{}, sum_held{};
    for (const Row& row : rows) {
        Lanes taken, held;
        double most_taken = 0.0, most_held = 0.0;
        for (std::size_t j = 0; j < n_slopes; ++j) {
            const double price = 2.0 * sign * row.gradient - slopes_[j] * row.hessian;
            taken[j] = price > 0.0 ? price : 0.0;
            held[j] = price < 0.0 ? -price : 0.0;
            most_taken = std::max(most_taken, taken[j]);
            most_held = std::max(most_held, held[j]);
            sum_taken[j] += taken[j];
            sum_held[j] += held[j];
        }
        if (most_taken > 0.0) takers_.push_back(taken), taker_rows_.push_back(&row);
        if (most_held > 0.0) holders_.push_back(held), holder_rows_.push_back(&row);
    }
    Lanes best;
    for (std::size_t j = 0; j < n_slopes; ++j)
        best[j] = psi_[j] - std::min(sum_taken[j], sum_held[j]);
    if (!is_below(best, value)) return false;

    constexpr std::size_t patience = 16;  // takers between two tests
    for (std::size_t p = 0; p < takers_.size(); ++p) {
        Lanes& taken = takers_[p];
        for (std::size_t n = 0; n < holders_.size(); ++n) {
            if (!is_subset(taker_rows_[p]->key, holder_rows_[n]->key)) continue;
            Lanes& held = holders_[n];
            for (std::size_t j = 0; j < n_slopes; ++j) {
                const double amount = std::min(taken[j], held[j]);
                taken[j] -= amount;
                held[j] -= amount;
                psi_[j] -= amount;
            }
        }
        if (p % patience == patience - 1 && is_below(psi_, value)) return true;
    }
    return is_below(psi_, value);
}

template class TangentProof<1>;
template class TangentProof<2>;
template class TangentProof<4>;
template class TangentProof<8>;

}  // namespace rulesearch

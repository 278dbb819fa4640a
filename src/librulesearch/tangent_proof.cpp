#include "librulesearch/tangent_proof.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rulesearch {
namespace {

// Beyond this many pairs of rows, a few milliseconds, a proof costs more than the node it saves.
constexpr std::size_t most_pairs = 2'000'000;

}  // namespace

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
    collect_prices(rows, sign);
    return holds_by_closure(value) || holds_by_intersection(value);
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

/// Sets: the rows with positive and with negative prices that are worth the effort; a row may be
/// both, at different slopes.
template <std::size_t K>
void TangentProof<K>::collect_prices(std::span<const Row> rows, double sign) {
    takers_.clear();
    holders_.clear();
    // Setting off small prices takes as long as setting off large ones. The shares were found by
    // trying: more nodes, less time.
    const double share = rows.size() < 512 ? 0.3 : 0.6;
    double sum = 0.0;
    std::size_t n_positive = 0;
    for (const Row& row : rows) {
        const double price = 2.0 * sign * row.gradient - slopes_[n_slopes / 2] * row.hessian;
        if (price > 0.0) sum += price, ++n_positive;
    }
    const double least = n_positive == 0 ? 0.0 : share * sum / static_cast<double>(n_positive);
    for (const Row& row : rows) {
        Priced taker{{}, row.key}, holder{{}, row.key};
        const double gain = 2.0 * sign * row.gradient;
        for (std::size_t j = 0; j < n_slopes; ++j) {
            const double price = gain - slopes_[j] * row.hessian;
            taker.left[j] = std::max(price, 0.0);
            holder.left[j] = std::max(-price, 0.0);
        }
        // Prices fall with the slope: the ends of the grid tell their signs.
        if (taker.left.front() > least) takers_.push_back(taker);
        if (holder.left.back() > least) holders_.push_back(holder);
    }
}

/// Even if a `share` of all positive prices were set off, as far as negative ones last.
template <std::size_t K>
bool TangentProof<K>::is_hopeless(double share, double value) const {
    Lanes taken{}, held{}, best;
    for (const Priced& taker : takers_) {
        for (std::size_t j = 0; j < n_slopes; ++j) taken[j] += taker.left[j];
    }
    for (const Priced& holder : holders_) {
        for (std::size_t j = 0; j < n_slopes; ++j) held[j] += holder.left[j];
    }
    for (std::size_t j = 0; j < n_slopes; ++j) {
        best[j] = psi_[j] - std::min(share * taken[j], held[j]);
    }
    return !is_below(best, value);
}

template <std::size_t K>
bool TangentProof<K>::holds_by_closure(double value) {
    if (takers_.size() * holders_.size() > most_pairs || is_hopeless(1.0, value)) return false;
    constexpr std::size_t patience = 16;  // takers between two tests
    for (std::size_t p = 0; p < takers_.size(); ++p) {
        Priced& taker = takers_[p];
        for (Priced& holder : holders_) {
            if (!is_subset(taker.key, holder.key)) continue;
            for (std::size_t j = 0; j < n_slopes; ++j) {
                const double amount = std::min(taker.left[j], holder.left[j]);
                taker.left[j] -= amount;
                holder.left[j] -= amount;
                psi_[j] -= amount;
            }
        }
        if (p % patience == patience - 1 && is_below(psi_, value)) return true;
    }
    return is_below(psi_, value);
}

template <std::size_t K>
bool TangentProof<K>::holds_by_intersection(double value) {
    const auto is_used_up = [](const Priced& row) {
        return *std::max_element(row.left.begin(), row.left.end()) <= 0.0;
    };
    std::erase_if(takers_, is_used_up);
    std::erase_if(holders_, is_used_up);
    if (is_hopeless(0.5, value)) return false;
    std::stable_sort(holders_.begin(), holders_.end(), [](const Priced& a, const Priced& b) {
        return a.left.back() > b.left.back();
    });
    constexpr std::size_t patience = 4;  // holders between two tests
    const std::size_t n_tried = std::min(holders_.size(), most_pairs / (takers_.size() + 1));
    for (std::size_t n = 0; n < n_tried; ++n) {
        set_off_pairs(holders_[n]);
        if (n % patience == patience - 1) {
            if (is_below(psi_, value)) return true;
            std::erase_if(takers_, is_used_up);
            if (is_hopeless(0.5, value)) return false;
        }
    }
    return is_below(psi_, value);
}

/// Sets off pairs of takers against one holder, beginning with the taker that is closest to being
/// inside the holder: it has most partners.
template <std::size_t K>
void TangentProof<K>::set_off_pairs(Priced& holder) {
    constexpr int no_more = std::numeric_limits<int>::max();
    missing_.resize(takers_.size());
    distance_.resize(takers_.size());
    for (std::size_t p = 0; p < takers_.size(); ++p) {
        int distance = 0;
        for (std::size_t w = 0; w < K; ++w) {
            missing_[p][w] = takers_[p].key[w] & ~holder.key[w];
            distance += std::popcount(missing_[p][w]);
        }
        distance_[p] = distance == 0 ? no_more : distance;
    }
    constexpr int n_tries = 8;
    for (int i = 0; i < n_tries; ++i) {
        const auto nearest = std::min_element(distance_.begin(), distance_.end());
        if (nearest == distance_.end() || *nearest == no_more) return;
        const std::size_t p = static_cast<std::size_t>(nearest - distance_.begin());
        *nearest = no_more;
        Priced& first = takers_[p];
        double gained = 0.0;
        for (std::size_t q = 0; q < takers_.size(); ++q) {
            if (q == p || !are_disjoint(missing_[p], missing_[q])) continue;
            Priced& second = takers_[q];
            for (std::size_t j = 0; j < n_slopes; ++j) {
                const double amount =
                    std::min(std::min(first.left[j], second.left[j]), holder.left[j]);
                first.left[j] -= amount;
                second.left[j] -= amount;
                holder.left[j] -= amount;
                psi_[j] -= amount;
                gained += amount;
            }
        }
        if (gained == 0.0) return;
    }
}

template class TangentProof<1>;
template class TangentProof<2>;
template class TangentProof<4>;
template class TangentProof<8>;

}  // namespace rulesearch

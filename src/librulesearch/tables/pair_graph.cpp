#include "librulesearch/tables/pair_graph.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace rulesearch::tables {
namespace {

// Far above what rounding does to slopes and values.
constexpr double price_slack = 1e-10;
// Magnitudes of prices add up to this much: a few such sums are below 2^31.
constexpr double max_price = 1 << 27;
// How often the slopes that matter are looked for.
constexpr std::size_t n_rounds = 3;

using BySlope = std::array<double, n_prices>;

/// What is left at both ends of a step from a slope to one that is steeper by a factor.
double at_ends(double value, double factor) { return value * 2.0 / (factor + 1.0 / factor); }

/// Prices of rows, for sums of gradients of one sign.
class Pricing {
  public:
    Pricing(const Question& question, double sign, const Kernels& kernels, bool has_rows = true)
        : question_(question), kernels_(kernels) {
        for (const Statistics& row : question.rows) {
            gradients_.push_back(sign * row.gradient);
            hessians_.push_back(row.hessian);
        }
        range_ = question.slopes[sign < 0.0];
        has_slopes_ = narrow_slopes();
        if (has_slopes_ && has_rows) price_rows();
    }

    /// Whether there are slopes that matter; only then there are prices.
    bool has_slopes() const { return has_slopes_; }
    const std::vector<Prices>& rows() const { return prices_; }
    /// Whole prices must be larger.
    const std::array<std::int32_t, n_prices>& needed() const { return needed_; }

    /// Slopes around those that are marked.
    SlopeRange range_of(const std::array<bool, n_prices>& is_alive) const {
        SlopeRange range{1.0, 0.0};
        for (std::size_t t = 0; t < n_prices; ++t) {
            if (!is_alive[t]) continue;
            if (range.is_empty()) range.low = slopes_[t > 0 ? t - 1 : 0];
            range.high = slopes_[std::min(t + 1, n_prices - 1)];
        }
        return range;
    }

    /// No set is worth more whose prices are at most these: between two slopes they are at most
    /// those of the chord.
    double bound(const std::int32_t* prices) const {
        const double lambda = question_.l2_regularization;
        double bound = 0.0;
        const auto price = [&](std::size_t t) {
            return static_cast<double>(prices[t]) / scales_[t] - lambda * slopes_[t];
        };
        for (std::size_t t = 0; t < n_prices; ++t) {
            const double low = slopes_[t], left = price(t);
            bound = std::max(bound, low * left);
            if (t + 1 == n_prices || slopes_[t + 1] <= low) continue;
            const double high = slopes_[t + 1];
            const double rise = (price(t + 1) - left) / (high - low);
            const double start = left - rise * low;
            // The largest value of slope * (start + rise * slope).
            if (rise >= 0.0) continue;
            const double top = -start / (2.0 * rise);
            if (top > low && top < high) bound = std::max(bound, 0.5 * top * start);
        }
        return bound * (1.0 + price_slack);
    }

  private:
    /// Sets: slopes between which wanted sets may be. Returns whether there are any.
    bool narrow_slopes() {
        double sum_gains = 0.0, steepest = 0.0;
        for (std::size_t row = 0; row < gradients_.size(); ++row) {
            if (gradients_[row] <= 0.0) continue;
            sum_gains += gradients_[row];
            steepest = std::max(steepest, ratio(gradients_[row], hessians_[row]));
        }
        if (sum_gains <= 0.0) return false;
        // G = t (lambda + H), and the value is t G: t is at least value / G.
        const double lambda = question_.l2_regularization;
        if (lambda > 0.0) steepest = std::min(steepest, sum_gains / lambda);
        range_.low = std::max(range_.low, question_.value / sum_gains * (1.0 - price_slack));
        range_.high = std::min(range_.high, steepest * (1.0 + price_slack));
        // Where all gaining rows together are not enough, there is nothing to find.
        for (std::size_t round = 0; round < n_rounds; ++round) {
            if (range_.is_empty()) return false;
            place_slopes();
            std::array<bool, n_prices> is_alive;
            BySlope sums;
            kernels_.sum_gains(gradients_.data(), hessians_.data(), gradients_.size(),
                               slopes_.data(), sums.data());
            for (std::size_t t = 0; t < n_prices; ++t) {
                const double price = sums[t] - lambda * slopes_[t];
                is_alive[t] = slopes_[t] * price > enough_;
            }
            range_ = range_of(is_alive);
        }
        if (range_.is_empty()) return false;
        place_slopes();
        return true;
    }

    void place_slopes() {
        const double step = std::pow(range_.high / range_.low, 1.0 / (n_prices - 1));
        for (std::size_t t = 0; t < n_prices; ++t)
            slopes_[t] = range_.low * std::pow(step, static_cast<double>(t));
        enough_ = at_ends(question_.value, step * (1.0 + price_slack)) * (1.0 - price_slack);
    }

    void price_rows() {
        double sum_gradients = 0.0, sum_hessians = 0.0;
        for (const double gradient : gradients_) sum_gradients += std::abs(gradient);
        for (const double hessian : hessians_) sum_hessians += hessian;
        const double lambda = question_.l2_regularization;
        const double n_rows = static_cast<double>(gradients_.size());
        for (std::size_t t = 0; t < n_prices; ++t) {
            scales_[t] = (max_price - n_rows) / (2.0 * sum_gradients + slopes_[t] * sum_hessians);
            const double price = (enough_ / slopes_[t] + lambda * slopes_[t]) * scales_[t];
            needed_[t] = static_cast<std::int32_t>(
                std::min(std::floor(price * (1.0 - price_slack)), 2.0 * max_price));
        }
        prices_.resize(gradients_.size());
        kernels_.price_rows(gradients_.data(), hessians_.data(), gradients_.size(), slopes_.data(),
                            scales_.data(), prices_.data());
    }

    const Question& question_;
    const Kernels& kernels_;
    std::vector<double> gradients_, hessians_;
    SlopeRange range_;
    bool has_slopes_ = false;
    BySlope slopes_{}, scales_{};
    double enough_ = 0.0;  // of t times the price
    std::array<std::int32_t, n_prices> needed_{};
    std::vector<Prices> prices_;
};

/// Prices of the rows of single columns, all axes one after the other.
struct Singles {
    std::vector<std::uint32_t> columns;
    std::vector<Prices> prices;
    std::vector<std::vector<Prices>> bins;  // by axis
    Prices all{};

    Singles(const Pricing& pricing, const std::vector<Axis>& axes, const Kernels& kernels) {
        std::vector<Prices> slots;
        for (const Axis& axis : axes) {
            bins.emplace_back(axis.n_bins, Prices{});
            slots.resize(axis.n_singles + 1);
            kernels.price_singles({pricing.rows().data(),
                                   pricing.rows().size(),
                                   {},
                                   axis.view(),
                                   nullptr,
                                   axis.codes.data(),
                                   bins.back().data(),
                                   slots.data()});
            all = slots.front();
            for (std::size_t mask = 0; mask < axis.n_singles; ++mask)
                columns.push_back(axis.columns[mask][0]);
            prices.insert(prices.end(), slots.begin() + 1, slots.end());
        }
    }
};

/// Tells for each condition what no query with it exceeds, by slope: the price of all its rows, and
/// what further conditions take off the negative part. Nothing if no slopes matter.
template <typename Visit>
void for_each_reach(const Pricing& pricing, std::size_t n_conditions, const std::vector<Axis>& axes,
                    const Kernels& kernels, Visit&& visit) {
    if (!pricing.has_slopes()) return;
    const Singles singles(pricing, axes, kernels);
    std::array<std::int32_t, n_prices> taken{}, reach{};
    std::vector<std::int32_t> amounts;
    const std::size_t n_further = std::min(n_conditions - 1, singles.prices.size());
    for (std::size_t t = 0; t < n_prices; ++t) {
        amounts.clear();
        for (const Prices& single : singles.prices)
            amounts.push_back(singles.all.negative[t] - single.negative[t]);
        const auto end = amounts.begin() + static_cast<std::ptrdiff_t>(n_further);
        std::partial_sort(amounts.begin(), end, amounts.end(), std::greater<>());
        for (auto amount = amounts.begin(); amount != end; ++amount) taken[t] += *amount;
    }
    for (std::size_t i = 0; i < singles.columns.size(); ++i) {
        const Prices& single = singles.prices[i];
        for (std::size_t t = 0; t < n_prices; ++t)
            reach[t] = single.sum[t] + std::min(single.negative[t], taken[t]);
        visit(singles.columns[i], reach.data());
    }
}

/// Prices of the rows of all pairs of columns, in the order of `PricedConditions`.
std::vector<Prices> price_pairs(const Pricing& pricing, const std::vector<Axis>& axes,
                                const Singles& singles, const Kernels& kernels,
                                const Interrupt& interrupt) {
    const std::size_t n = singles.columns.size();
    std::vector<Prices> pairs(n * (n - 1) / 2), cells, slots, inner;
    // Where the pairs of a column would begin if it had one with column 0.
    const auto pairs_of = [&](std::size_t a) { return a * n - a * (a + 1) / 2 - (a + 1); };
    for (std::size_t f = 0, first_a = 0; f < axes.size(); first_a += axes[f++].n_singles) {
        for (std::size_t e = f, first_b = first_a; e < axes.size();
             first_b += axes[e++].n_singles) {
            if (interrupt.is_requested()) return pairs;
            const std::size_t n_bins = axes[e].n_bins;
            cells.assign(axes[f].n_bins * n_bins, Prices{});
            slots.resize((axes[f].n_singles + 1) * n_bins);
            inner.resize(axes[e].n_singles + 1);
            PriceTable table{pricing.rows().data(), pricing.rows().size(), axes[f].view(),
                             axes[e].view(),        axes[f].codes.data(),  axes[e].codes.data(),
                             cells.data(),          slots.data()};
            if (e == f) {  // no row is in two bins
                table.n_rows = 0;
                for (std::size_t bin = 0; bin < n_bins; ++bin)
                    cells[bin * n_bins + bin] = singles.bins[f][bin];
            }
            kernels.price_pairs(table);
            for (std::size_t i = 0; i < axes[f].n_singles; ++i) {
                kernels.price_masks(axes[e].view(), slots.data() + (i + 1) * n_bins, inner.data());
                const std::size_t skipped = e == f ? i + 1 : 0;
                std::copy(inner.begin() + static_cast<std::ptrdiff_t>(1 + skipped), inner.end(),
                          pairs.data() + (pairs_of(first_a + i) + first_b + skipped));
            }
        }
    }
    return pairs;
}

}  // namespace

bool Question::has_prices() const {
    return value > 0.0 && std::all_of(rows.begin(), rows.end(), [&](const Statistics& row) {
               return l2_regularization > 0.0 || row.hessian > 0.0 || row.gradient == 0.0;
           });
}

bool may_hold(const Question& question, const Kernels& kernels) {
    if (!question.has_prices()) return true;
    return Pricing(question, 1.0, kernels, false).has_slopes() ||
           Pricing(question, -1.0, kernels, false).has_slopes();
}

BitSet possible_columns(Question& question, const std::vector<Axis>& axes, std::size_t n_columns,
                        const Kernels& kernels) {
    BitSet columns(n_columns);
    if (!question.has_prices()) {
        for (const Axis& axis : axes)
            for (std::size_t mask = 0; mask < axis.n_singles; ++mask)
                columns.insert(axis.columns[mask][0]);
        return columns;
    }
    for (const double sign : {1.0, -1.0}) {
        const Pricing pricing(question, sign, kernels);
        std::array<bool, n_prices> is_alive{};
        for_each_reach(pricing, question.n_conditions, axes, kernels,
                       [&](std::size_t column, const std::int32_t* reach) {
                           for (std::size_t t = 0; t < n_prices; ++t) {
                               if (reach[t] <= pricing.needed()[t]) continue;
                               is_alive[t] = true;
                               columns.insert(column);
                           }
                       });
        question.slopes[sign < 0.0] = pricing.range_of(is_alive);
    }
    return columns;
}

std::vector<double> column_bounds(const Question& question, const std::vector<Axis>& axes,
                                  std::size_t n_columns, const Kernels& kernels) {
    std::vector<double> bounds(n_columns, 0.0);
    for (const double sign : {1.0, -1.0}) {
        const Pricing pricing(question, sign, kernels);
        for_each_reach(pricing, question.n_conditions, axes, kernels,
                       [&](std::size_t column, const std::int32_t* reach) {
                           bounds[column] = std::max(bounds[column], pricing.bound(reach));
                       });
    }
    return bounds;
}

PairGraph::PairGraph(Question& question, const std::vector<Axis>& axes, std::size_t n_columns,
                     const AllowedPairs& inherited, const Kernels& kernels,
                     const Interrupt& interrupt)
    : stride_(n_words(n_columns)),
      pairs_(stride_ * n_columns),
      columns_(n_columns),
      bounds_(n_columns, 0.0) {
    if (!question.has_prices()) {
        allow_all(axes, inherited);
        return;
    }
    for (const double sign : {1.0, -1.0})
        question.slopes[sign < 0.0] =
            allow_pairs(question, sign, axes, inherited, kernels, interrupt);
}

PairGraph::PairGraph(std::size_t n_columns, const std::vector<std::array<std::uint32_t, 2>>& pairs)
    : stride_(n_words(n_columns)),
      pairs_(stride_ * n_columns),
      columns_(n_columns),
      bounds_(n_columns, std::numeric_limits<double>::infinity()) {
    for (const auto& [a, b] : pairs) allow(a, b);
}

void PairGraph::allow_all(const std::vector<Axis>& axes, const AllowedPairs& inherited) {
    std::vector<std::uint32_t> columns;
    for (const Axis& axis : axes)
        for (std::size_t mask = 0; mask < axis.n_singles; ++mask)
            columns.push_back(axis.columns[mask][0]);
    for (const std::uint32_t a : columns) {
        bounds_[a] = std::numeric_limits<double>::infinity();
        for (const std::uint32_t b : columns)
            if (inherited(a, b)) allow(a, b);
    }
}

SlopeRange PairGraph::allow_pairs(const Question& question, double sign,
                                  const std::vector<Axis>& axes, const AllowedPairs& inherited,
                                  const Kernels& kernels, const Interrupt& interrupt) {
    const Pricing pricing(question, sign, kernels);
    std::array<bool, n_prices> is_alive{};
    if (!pricing.has_slopes() || axes.empty()) return pricing.range_of(is_alive);
    const Singles singles(pricing, axes, kernels);
    const std::vector<Prices> pairs = price_pairs(pricing, axes, singles, kernels, interrupt);
    n_tables_ += axes.size() * (axes.size() - 1) / 2;
    const std::size_t n = singles.columns.size(), n_further = question.n_conditions - 2;
    std::vector<std::uint8_t> is_open(pairs.size()), is_possible(pairs.size());
    for (std::size_t a = 0, pair = 0; a < n; ++a)
        for (std::size_t b = a + 1; b < n; ++b)
            is_open[pair++] = inherited(singles.columns[a], singles.columns[b]) ? 1 : 0;
    std::vector<std::int32_t> taken(n * n_prices), largest(n * n_further * n_prices);
    std::vector<std::int32_t> reach(n * n_prices, std::numeric_limits<std::int32_t>::min());
    kernels.find_possible_pairs({n, n_further, singles.prices.data(), pairs.data(), is_open.data(),
                                 taken.data(), largest.data(), pricing.needed().data(),
                                 is_possible.data(), reach.data()});
    for (std::size_t a = 0, pair = 0; a < n; ++a) {
        for (std::size_t b = a + 1; b < n; ++b) {
            if (is_possible[pair++] == 0) continue;
            allow(singles.columns[a], singles.columns[b]);
            allow(singles.columns[b], singles.columns[a]);
            allow(singles.columns[a], singles.columns[a]);
            allow(singles.columns[b], singles.columns[b]);
        }
        const std::int32_t* of_a = reach.data() + a * n_prices;
        for (std::size_t t = 0; t < n_prices; ++t)
            is_alive[t] = is_alive[t] || of_a[t] > pricing.needed()[t];
    }
    for (std::size_t a = 0; a < n; ++a) {
        const std::uint32_t column = singles.columns[a];
        if (columns_.contains(column))
            bounds_[column] = std::max(bounds_[column], pricing.bound(reach.data() + a * n_prices));
    }
    return pricing.range_of(is_alive);
}

BitSet PairGraph::neighbours(std::size_t column) const {
    BitSet set(columns_);
    set.intersect(pairs_.data() + column * stride_);
    return set;
}

}  // namespace rulesearch::tables

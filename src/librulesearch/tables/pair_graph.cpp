#include "librulesearch/tables/pair_graph.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rulesearch::tables {
namespace {

// Of sums of prices, relative to the sum of their magnitudes: far above what rounding does.
constexpr double price_slack = 1e-10;
// Slopes looked at to find out which ones matter, and those looked at closely.
constexpr std::size_t n_probes = 64;
constexpr std::size_t n_slopes = 16;

using BySlope = std::array<double, n_slopes>;

struct Prices {
    BySlope positive{}, negative{};  // magnitudes

    void add(const Prices& other, double factor = 1.0) {
        for (std::size_t t = 0; t < n_slopes; ++t) {
            positive[t] += factor * other.positive[t];
            negative[t] += factor * other.negative[t];
        }
    }
};

/// What is left at both ends of a step from a slope to one that is steeper by a factor.
double at_ends(double value, double factor) { return value * 2.0 / (factor + 1.0 / factor); }

/// Adds up rows of `size` prices per bin over the single masks of an axis; the first slot is for
/// all bins, one for each mask follows.
void sum_masks(const Axis& axis, const Prices* bins, std::size_t size, std::vector<Prices>& slots) {
    slots.assign((axis.n_singles + 1) * size, {});
    const auto add = [&](Prices* out, const Prices* in, double factor) {
        for (std::size_t k = 0; k < size; ++k) out[k].add(in[k], factor);
    };
    for (std::size_t bin = 0; bin < axis.n_bins; ++bin) add(slots.data(), bins + bin * size, 1.0);
    for (std::size_t mask = 0; mask < axis.n_singles; ++mask) {
        const MaskStep& step = axis.masks[mask];
        Prices* slot = slots.data() + (mask + 1) * size;
        if (step.parent >= 0)
            add(slot, slots.data() + static_cast<std::size_t>(step.parent) * size, 1.0);
        const std::uint8_t* bin = axis.bins.data() + step.begin;
        for (std::size_t i = 0; i < step.n_added; ++i) add(slot, bins + *bin++ * size, 1.0);
        for (std::size_t i = 0; i < step.n_removed; ++i) add(slot, bins + *bin++ * size, -1.0);
    }
}

}  // namespace

/// Prices of rows, of the rows of single columns and of pairs, for sums of gradients of one sign.
class PricedPairs {
  public:
    PricedPairs(const Problem& problem, const std::vector<std::uint32_t>& rows,
                const std::vector<Axis>& axes, std::size_t n_further, double value, double sign)
        : problem_(problem),
          rows_(rows),
          axes_(axes),
          n_further_(n_further),
          value_(value),
          sign_(sign) {}

    void allow_pairs(PairGraph& graph) {
        if (!choose_slopes()) return;
        price_rows();
        sum_singles();
        if (n_further_ > 0)
            for_each_pair([&](Single& a, Single& b, const Prices& both) {
                note_taken(a, both);
                note_taken(b, both);
            });
        for_each_pair([&](Single& a, Single& b, const Prices& both) {
            if (!is_possible(a, b, both)) return;
            graph.allow(a.column, b.column);
            graph.allow(b.column, a.column);
            graph.allow(a.column, a.column);
            graph.allow(b.column, b.column);
        });
    }

  private:
    struct Single {
        std::uint32_t column;
        Prices sums;
        /// What other columns take off the negative part, the largest amounts first.
        std::vector<BySlope> taken;
    };

    /// Sets: slopes between which wanted sets may be. Returns whether there are any.
    bool choose_slopes() {
        double sum_gains = 0.0, steepest = 0.0;
        for (const std::uint32_t row : rows_) {
            const double g = sign_ * problem_.rows[row].gradient;
            if (g <= 0.0) continue;
            sum_gains += g;
            steepest = std::max(steepest, ratio(g, problem_.rows[row].hessian));
        }
        if (sum_gains <= 0.0) return false;
        // G = t (lambda + H), and the value is t G: t is at least value / G.
        const double lambda = problem_.l2_regularization;
        const double low = value_ / sum_gains * (1.0 - price_slack);
        const double high = (lambda > 0.0 ? std::min(steepest, sum_gains / lambda) : steepest) *
                            (1.0 + price_slack);
        if (low > high) return false;
        // Where all gaining rows together are not enough, there is nothing to find.
        const double factor = std::pow(high / low, 1.0 / (n_probes - 1));
        double first = 0.0, last = 0.0;
        for (std::size_t probe = 0; probe < n_probes; ++probe) {
            const double slope = low * std::pow(factor, static_cast<double>(probe));
            if (bound_at(slope) <= at_ends(value_, factor) * (1.0 - price_slack)) continue;
            if (first == 0.0) first = slope / factor;
            last = slope * factor;
        }
        if (first == 0.0) return false;
        const double step = std::pow(last / first, 1.0 / (n_slopes - 1));
        for (std::size_t t = 0; t < n_slopes; ++t)
            slopes_[t] = first * std::pow(step, static_cast<double>(t));
        needed_ = at_ends(value_, step) * (1.0 - price_slack);
        return true;
    }

    /// Largest value of any set at this slope.
    double bound_at(double slope) const {
        double sum = -problem_.l2_regularization * slope;
        for (const std::uint32_t row : rows_) sum += std::max(0.0, price(row, slope));
        return slope * sum;
    }

    double price(std::uint32_t row, double slope) const {
        const Statistics& entry = problem_.rows[row];
        return 2.0 * sign_ * entry.gradient - slope * entry.hessian;
    }

    void price_rows() {
        prices_.assign(rows_.size(), {});
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            for (std::size_t t = 0; t < n_slopes; ++t) {
                const double value = price(rows_[i], slopes_[t]);
                (value > 0.0 ? prices_[i].positive : prices_[i].negative)[t] = std::abs(value);
                slack_[t] += price_slack * std::abs(value);
            }
        }
    }

    void sum_singles() {
        std::vector<Prices> bins, slots;
        for (const Axis& axis : axes_) {
            bins.assign(axis.n_bins, {});
            for (std::size_t i = 0; i < rows_.size(); ++i) bins[axis.codes[i]].add(prices_[i]);
            sum_masks(axis, bins.data(), 1, slots);
            singles_.emplace_back();
            for (std::size_t mask = 0; mask < axis.n_singles; ++mask)
                singles_.back().push_back({axis.columns[mask][0], slots[mask + 1],
                                           std::vector<BySlope>(n_further_, BySlope{})});
        }
    }

    template <typename Visit>
    void for_each_pair(Visit&& visit) {
        std::vector<Prices> cells, outer, inner;
        for (std::size_t f = 0; f < axes_.size(); ++f) {
            for (std::size_t e = f; e < axes_.size(); ++e) {
                const std::size_t n_inner = axes_[e].n_bins;
                cells.assign(axes_[f].n_bins * n_inner, {});
                for (std::size_t i = 0; i < rows_.size(); ++i)
                    cells[axes_[f].codes[i] * n_inner + axes_[e].codes[i]].add(prices_[i]);
                sum_masks(axes_[f], cells.data(), n_inner, outer);
                for (std::size_t a = 0; a < axes_[f].n_singles; ++a) {
                    sum_masks(axes_[e], outer.data() + (a + 1) * n_inner, 1, inner);
                    for (std::size_t b = e == f ? a + 1 : 0; b < axes_[e].n_singles; ++b)
                        visit(singles_[f][a], singles_[e][b], inner[b + 1]);
                }
            }
        }
    }

    static void note_taken(Single& a, const Prices& both) {
        for (std::size_t t = 0; t < n_slopes; ++t) {
            double amount = a.sums.negative[t] - both.negative[t];
            for (BySlope& largest : a.taken)
                if (amount > largest[t]) std::swap(amount, largest[t]);
        }
    }

    bool is_possible(const Single& a, const Single& b, const Prices& both) const {
        const auto taken = [](const Single& single, std::size_t t) {
            double sum = 0.0;
            for (const BySlope& largest : single.taken) sum += largest[t];
            return sum;
        };
        for (std::size_t t = 0; t < n_slopes; ++t) {
            const double taken_off = std::min({both.negative[t], taken(a, t), taken(b, t)});
            const double price = both.positive[t] - both.negative[t] + taken_off + slack_[t] -
                                 problem_.l2_regularization * slopes_[t];
            if (slopes_[t] * price > needed_) return true;
        }
        return false;
    }

    const Problem& problem_;
    const std::vector<std::uint32_t>& rows_;
    const std::vector<Axis>& axes_;
    std::size_t n_further_;  // conditions besides the two
    double value_, sign_;
    BySlope slopes_{}, slack_{};
    double needed_ = 0.0;  // of t times the price
    std::vector<Prices> prices_;
    std::vector<std::vector<Single>> singles_;  // by axis
};

PairGraph::PairGraph(const Problem& problem, const std::vector<std::uint32_t>& rows,
                     const std::vector<Axis>& axes, std::size_t n_conditions, double value)
    : stride_(n_words(problem.extents.n_columns())),
      pairs_(stride_ * problem.extents.n_columns()),
      columns_(problem.extents.n_columns()) {
    const bool has_slopes = std::all_of(rows.begin(), rows.end(), [&](std::uint32_t row) {
        return problem.l2_regularization > 0.0 || problem.rows[row].hessian > 0.0;
    });
    if (value <= 0.0 || !has_slopes) {  // nothing can be ruled out
        columns_ = BitSet(problem.extents.n_columns(), true);
        std::fill(pairs_.begin(), pairs_.end(), ~Word{0});
        return;
    }
    for (const double sign : {1.0, -1.0})
        PricedPairs(problem, rows, axes, n_conditions - 2, value, sign).allow_pairs(*this);
}

}  // namespace rulesearch::tables

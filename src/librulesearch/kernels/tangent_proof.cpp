// A cheap proof that no refinement of a query is worth more than a value v.
//
// "Reachable" are the sets {row: T is a subset of its key}, together with the forced rows.
//
// Tangents. G^2/H is the largest of 2 rho G - rho^2 H over all slopes rho, and attained at
// rho = G/H. So if a union is worth more than v, then rho * psi(rho) > v at its own rho, where psi
// is the largest 2G - rho H of any union. At a fixed slope each row has a price w = 2g - rho h, and
// without knowing which unions are reachable psi is at most the sum of the positive prices.
//
// Chords. psi is the largest of finitely many lines, hence convex: between two slopes it lies below
// the chord through upper bounds at both. So it is enough to look at a grid of slopes.
//
// Closure. If T covers row p and key(p) is inside key(n), then T covers n as well. So a positive
// price of p, a *taker*, may be set off against a negative one of n, a *holder*; psi falls by what
// is set off.
//
// Intersection. If T covers p and q, it is inside key(p) & key(q), and if that is inside key(n), T
// covers n: as 0/1 indicators, n >= p + q - 1. So an equal share of two positive prices may be set
// off against a negative one; psi falls by that share.

#include <cmath>

#include "librulesearch/kernels/kernel_functions.hpp"
#include "librulesearch/kernels/key_columns.hpp"
#include "librulesearch/kernels/simd.hpp"
#include "librulesearch/kernels/slope_vector.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {
namespace {

// Beyond this much work, a few milliseconds, a proof costs more than the node it saves.
constexpr std::size_t max_work = 1'000'000;

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

/// The proof for unions with a positive (`sign` 1) or a negative (-1) sum of gradients.
class SignedProof {
  public:
    SignedProof(const RowsView& rows, const ChainsView& chains, const Totals& totals, double sign,
                const ForcedRows& forced, double l2_regularization, KeyColumns& key_columns,
                const ProofBuffers& buffers)
        : rows_(rows),
          chains_(chains),
          key_columns_(key_columns),
          buffers_(buffers),
          sign_(sign),
          forced_gain_(sign * forced.gradient),
          forced_cost_(l2_regularization + forced.hessian),
          free_gain_(totals.gains[sign < 0.0]),
          // What all rows together are worth, positive and negative prices.
          total_gain_(sign * (totals.gains[0] - totals.gains[1])),
          total_cost_(totals.hessian),
          steepest_(totals.steepest[sign < 0.0]) {}

    double largest_gain() const { return forced_gain_ + free_gain_; }

    /// Tangents and chords only. O(rows).
    bool holds_on_grid(double value) {
        const double largest_gain = this->largest_gain();
        if (largest_gain <= 0.0) return true;
        // Sums of prices are rounded: leave room for that, in proportion to what may cancel.
        const double square = largest_gain * largest_gain;
        const double cancellation = 1.0 + 4.0 * square / (value * larger_of(forced_cost_, 1e-300));
        const double slack = 1e-12 + 1e-15 * static_cast<double>(rows_.size + 16) * cancellation;
        is_hopeless_ = true;
        if (!(slack < 1e-3)) return false;
        value_ = value * (1.0 - slack);
        if (square <= value_ * forced_cost_) return true;
        const double low = value_ / largest_gain;
        double high = steepest_;
        if (forced_gain_ > 0.0) high = larger_of(high, forced_gain_ / forced_cost_);
        if (forced_cost_ > 0.0) {
            const double root = std::sqrt(square - value_ * forced_cost_);
            high = smaller_of(high, (largest_gain + root) / forced_cost_);
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

    /// To be called after the grid did not do.
    bool holds_by_pairs(const ProofEffort& effort) {
        if (!effort.closure || is_hopeless_ || !can_hold()) return false;
        choose_min_price();
        return holds_by_closure() || (effort.intersection && holds_by_intersection());
    }

  private:
    double gain(std::size_t row) const { return 2.0 * sign_ * rows_.gradients[row]; }
    SlopeVector prices(std::size_t row) const {
        return reduced(gain(row), SlopeVector::from(slopes_), rows_.hessians[row]);
    }

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
        sums[0].to(taken_);
        for (std::size_t j = 0; j < n_slopes; ++j)
            psi_[j] = 2.0 * forced_gain_ - slopes_[j] * forced_cost_ + taken_[j];
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

    /// Whether it would do if all positive prices were set off, as far as negative ones last.
    bool can_hold() const {
        double best[n_slopes];
        for (std::size_t j = 0; j < n_slopes; ++j) {
            const double costing_left = taken_[j] - (2.0 * total_gain_ - slopes_[j] * total_cost_);
            best[j] = psi_[j] - smaller_of(taken_[j], costing_left);
        }
        return is_below(SlopeVector::from(best));
    }

    /// Setting off small prices takes as long as setting off large ones. The shares were found by
    /// trying: more nodes, less time. Sets: the least price worth the effort.
    void choose_min_price() {
        const double share = rows_.size < 512 ? 0.3 : 0.6;
        const double slope = slopes_[n_slopes / 2];
        std::size_t n_positive = 0;
        for (std::size_t i = 0; i < rows_.size; ++i)
            n_positive += gain(i) - slope * rows_.hessians[i] > 0.0;
        min_price_ =
            n_positive == 0 ? 0.0 : share * taken_[n_slopes / 2] / static_cast<double>(n_positive);
    }

    std::size_t n_chunks() const { return key_columns_.n_chunks(); }
    double* gaining_left(std::size_t row) const { return buffers_.gaining + row * n_slopes; }
    double* costing_left(std::size_t row) const { return buffers_.costing + row * n_slopes; }

    static void insert(Word* set, std::size_t row) {
        set[row / word_bits] |= Word{1} << (row % word_bits);
    }
    static void remove(Word* set, std::size_t row) {
        set[row / word_bits] &= ~(Word{1} << (row % word_bits));
    }
    /// Calls `visit(row)` for the rows of a chunk, as long as it returns true.
    template <typename Visitor>
    static bool for_each_row(std::size_t chunk, WordVector rows, Visitor&& visit) {
        if (!any(rows != WordVector{})) return true;
        Word words[width];
        store(words, rows);
        for (std::size_t w = 0; w < width; ++w) {
            for (Word bits = words[w]; bits != 0; bits &= bits - 1) {
                if (!visit(chunk * chunk_size + w * word_bits + lowest_bit(bits))) return false;
            }
        }
        return true;
    }

    /// Rows in order, which is descending order of their keys: only rows before a taker can contain
    /// its key.
    bool holds_by_closure() {
        constexpr std::size_t patience = 16;  // gaining between two tests
        key_columns_.make();
        for (std::size_t b = 0; b < n_chunks() * width; ++b)
            buffers_.gaining_set[b] = buffers_.costing_set[b] = 0;
        work_ = 0;
        SlopeVector psi = SlopeVector::from(psi_);
        std::size_t n_seen = 0;
        for (std::size_t i = 0; i < rows_.size; ++i) {
            // Prices fall with the slope: the ends of the grid tell their signs.
            const double gain = this->gain(i), hessian = rows_.hessians[i];
            if (gain - slopes_[0] * hessian > min_price_) {
                const SlopeVector before = positive_part(prices(i));
                const SlopeVector left = set_off_against_supersets(i, before);
                SlopeVector gone = before;
                gone -= left;
                psi -= gone;
                if (left.has_positive()) {
                    left.to(gaining_left(i));
                    insert(buffers_.gaining_set, i);
                }
                if (++n_seen % patience == 0) {
                    if (is_below(psi)) return true;
                    if (work_ > max_work) return false;
                }
            }
            if (slopes_[n_slopes - 1] * hessian - gain > min_price_) {
                positive_part(negative(prices(i))).to(costing_left(i));
                insert(buffers_.costing_set, i);
            }
        }
        psi.to(psi_);
        return is_below(psi);
    }

    /// What is left of a taker's prices after the costing whose keys contain its own.
    SlopeVector set_off_against_supersets(std::size_t row, SlopeVector left) {
        const std::size_t last_chunk = row / chunk_size;
        for (std::size_t chunk = 0; chunk <= last_chunk; ++chunk) {
            WordVector supersets = load(buffers_.costing_set + chunk * width);
            if (!any(supersets != WordVector{})) continue;
            const Word* columns = key_columns_.of_chunk(chunk);
            for (std::size_t p = 0; p < rows_.n_planes; ++p, columns += word_bits * width) {
                for (Word bits = key_columns_.tight_plane(p)[row]; bits != 0; bits &= bits - 1)
                    supersets &= load(columns + lowest_bit(bits) * width);
            }
            const bool is_left = for_each_row(chunk, supersets, [&](std::size_t n) {
                SlopeVector other = SlopeVector::from(costing_left(n));
                const SlopeVector amount = smaller(left, other);
                left -= amount;
                other -= amount;
                other.to(costing_left(n));
                if (!other.has_positive()) remove(buffers_.costing_set, n);
                ++work_;
                return left.has_positive();
            });
            if (!is_left) break;
        }
        work_ += last_chunk + 1;
        return left;
    }

    /// What is left of all rows in a set.
    SlopeVector sum(const Word* set, const double* numbers) const {
        SlopeVector sum = SlopeVector::all(0.0);
        for (std::size_t b = 0; b < n_chunks() * width; ++b) {
            for (Word bits = set[b]; bits != 0; bits &= bits - 1)
                sum += SlopeVector::from(numbers + (b * word_bits + lowest_bit(bits)) * n_slopes);
        }
        return sum;
    }

    /// Even if half of what is left of all positive prices were set off, as far as negative ones
    /// last.
    bool is_out_of_reach() const {
        double gaining_left[n_slopes], costing_left[n_slopes], best[n_slopes];
        sum(buffers_.gaining_set, buffers_.gaining).to(gaining_left);
        sum(buffers_.costing_set, buffers_.costing).to(costing_left);
        for (std::size_t j = 0; j < n_slopes; ++j)
            best[j] = psi_[j] - smaller_of(0.5 * gaining_left[j], costing_left[j]);
        return !is_below(SlopeVector::from(best));
    }

    /// Holders with much left first.
    bool holds_by_intersection() {
        if (is_out_of_reach()) return false;
        double all[n_slopes];
        sum(buffers_.costing_set, buffers_.costing).to(all);
        std::size_t n_costing = 0;
        for (std::size_t b = 0; b < n_chunks() * width; ++b)
            n_costing += static_cast<std::size_t>(count_bits(buffers_.costing_set[b]));
        const double average = all[n_slopes - 1] / static_cast<double>(n_costing + 1);
        constexpr std::size_t patience = 4;  // costing between two tests
        std::size_t n_tried = 0;
        for (const bool is_first_round : {true, false}) {
            for (std::size_t b = 0; b < n_chunks() * width; ++b) {
                for (Word bits = buffers_.costing_set[b]; bits != 0; bits &= bits - 1) {
                    const std::size_t n = b * word_bits + lowest_bit(bits);
                    if ((costing_left(n)[n_slopes - 1] >= average) != is_first_round) continue;
                    if (work_ > max_work) return false;
                    set_off_pairs(n);
                    if (++n_tried % patience != 0) continue;
                    if (is_below(SlopeVector::from(psi_))) return true;
                    if (n_tried % (4 * patience) == 0 && is_out_of_reach()) return false;
                }
            }
        }
        return is_below(SlopeVector::from(psi_));
    }

    /// Sets off pairs of gaining against one holder, beginning with the gaining that are closest to
    /// being inside the holder: they have most partners.
    void set_off_pairs(std::size_t holder) {
        find_frontier(holder);
        find_near_gaining();
        SlopeVector left = SlopeVector::from(costing_left(holder));
        SlopeVector psi = SlopeVector::from(psi_);
        constexpr int n_tries = 8;
        int n_tried = 0;
        bool goes_on = true;
        for (std::size_t distance = 0; distance < n_distances && goes_on; ++distance) {
            const Word* gaining = buffers_.near_gaining + distance * n_chunks() * width;
            for (std::size_t chunk = 0; chunk < n_chunks() && goes_on; ++chunk) {
                goes_on = for_each_row(chunk, load(gaining + chunk * width), [&](std::size_t i) {
                    return set_off_with_partners(i, left, psi) && ++n_tried < n_tries;
                });
            }
        }
        left.to(costing_left(holder));
        if (!left.has_positive()) remove(buffers_.costing_set, holder);
        psi.to(psi_);
    }

    /// Sets: the largest column of each chain that the holder is not in. A taker that is in none of
    /// them is inside the holder.
    void find_frontier(std::size_t holder) {
        for (std::size_t p = 0; p < rows_.n_planes; ++p)
            buffers_.frontier[p] = chains_.tops[p] & ~rows_.plane(p)[holder];
        for (std::size_t p = 0; p < rows_.n_planes && key_columns_.has_chains(); ++p) {
            for (Word bits = key_columns_.tight_plane(p)[holder]; bits != 0; bits &= bits - 1) {
                const std::int32_t below =
                    chains_.below[p * word_bits + lowest_bit(bits)] - chains_.first;
                if (below >= 0) insert(buffers_.frontier, static_cast<std::size_t>(below));
            }
        }
    }

    /// Sets: gaining in one, two and three columns of the frontier. Counts in binary, for all rows
    /// of a chunk at once.
    void find_near_gaining() {
        for (std::size_t chunk = 0; chunk < n_chunks(); ++chunk) {
            const WordVector gaining = load(buffers_.gaining_set + chunk * width);
            Word* to = buffers_.near_gaining + chunk * width;
            WordVector ones{}, twos{}, more = ~gaining;
            if (!any(gaining != WordVector{})) {
                for (std::size_t k = 0; k < n_distances; ++k)
                    store(to + k * n_chunks() * width, gaining);
                continue;
            }
            const Word* columns = key_columns_.of_chunk(chunk);
            for (std::size_t p = 0; p < rows_.n_planes; ++p, columns += word_bits * width) {
                for (Word bits = buffers_.frontier[p]; bits != 0; bits &= bits - 1) {
                    const WordVector rows = load(columns + lowest_bit(bits) * width);
                    const WordVector carry = ones & rows;
                    ones ^= rows;
                    more |= twos & carry;
                    twos ^= carry;
                }
            }
            store(to, ones & ~twos & ~more);
            store(to + n_chunks() * width, twos & ~ones & ~more);
            store(to + 2 * n_chunks() * width, ones & twos & ~more);
        }
        work_ += n_chunks();
    }

    /// Returns whether there was any partner, and some of the holder is left.
    bool set_off_with_partners(std::size_t taker, SlopeVector& costing_row_left, SlopeVector& psi) {
        SlopeVector left = SlopeVector::from(gaining_left(taker));
        bool has_partner = false, is_left = true;
        for (std::size_t chunk = 0; chunk < n_chunks() && is_left; ++chunk) {
            // Partners are in none of the columns that keep it from being inside the holder. If
            // they are in one of them, they are in the one of the frontier.
            WordVector partners = load(buffers_.gaining_set + chunk * width);
            if (!any(partners != WordVector{})) continue;
            const Word* columns = key_columns_.of_chunk(chunk);
            for (std::size_t p = 0; p < rows_.n_planes; ++p, columns += word_bits * width) {
                Word bits = rows_.plane(p)[taker] & buffers_.frontier[p];
                for (; bits != 0; bits &= bits - 1)
                    partners &= ~load(columns + lowest_bit(bits) * width);
            }
            is_left = for_each_row(chunk, partners, [&](std::size_t i) {
                SlopeVector other = SlopeVector::from(gaining_left(i));
                const SlopeVector amount = smaller(smaller(left, other), costing_row_left);
                ++work_;
                if (amount.has_positive()) {
                    has_partner = true;
                    left -= amount;
                    costing_row_left -= amount;
                    psi -= amount;
                    other -= amount;
                    other.to(gaining_left(i));
                    if (!other.has_positive()) remove(buffers_.gaining_set, i);
                }
                return smaller(left, costing_row_left).has_positive();
            });
        }
        left.to(gaining_left(taker));
        if (!left.has_positive()) remove(buffers_.gaining_set, taker);
        return has_partner && costing_row_left.has_positive();
    }

    static constexpr std::size_t chunk_size = KeyColumns::chunk_size;

    const RowsView& rows_;
    const ChainsView& chains_;
    KeyColumns& key_columns_;
    const ProofBuffers& buffers_;
    const double sign_;
    const double forced_gain_, forced_cost_, free_gain_, total_gain_, total_cost_, steepest_;
    double value_ = 0.0;
    double min_price_ = 0.0;
    bool is_hopeless_ = false;
    double slopes_[n_slopes], inverse_steps_[n_slopes], taken_[n_slopes], psi_[n_slopes];
    std::size_t work_ = 0;
};

}  // namespace

bool is_proven_below(const RowsView& rows, const ChainsView& chains, const ForcedRows& forced,
                     double l2_regularization, double value, const ProofEffort& effort,
                     const ProofBuffers& buffers) {
    if (!(value > 0.0)) return false;
    const Totals totals = totals_of(rows);
    KeyColumns columns(rows, chains, buffers);
    SignedProof positive(rows, chains, totals, 1.0, forced, l2_regularization, columns, buffers);
    SignedProof negative(rows, chains, totals, -1.0, forced, l2_regularization, columns, buffers);
    // The sign with more to gain is more likely to spoil the proof.
    const bool is_swapped = negative.largest_gain() > positive.largest_gain();
    SignedProof& first = is_swapped ? negative : positive;
    SignedProof& second = is_swapped ? positive : negative;
    const bool first_holds = first.holds_on_grid(value);
    if (!first_holds && !first.holds_by_pairs(effort)) return false;
    return second.holds_on_grid(value) || second.holds_by_pairs(effort);
}

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

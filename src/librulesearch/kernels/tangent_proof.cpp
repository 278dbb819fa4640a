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
// price of p, a *gaining* row, may be set off against a negative one of n, a *costing* row; psi
// falls by what is set off.
//
// Intersection. If T covers p and q, it is inside key(p) & key(q), and if that is inside key(n), T
// covers n: as 0/1 indicators, n >= p + q - 1. So an equal share of two positive prices may be set
// off against a negative one; psi falls by that share.

#include "librulesearch/kernels/kernel_functions.hpp"
#include "librulesearch/kernels/key_columns.hpp"
#include "librulesearch/kernels/simd.hpp"
#include "librulesearch/kernels/slope_vector.hpp"
#include "librulesearch/kernels/tangent_grid.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {
namespace {

// Beyond this much work, a few milliseconds, a proof costs more than the node it saves.
constexpr std::size_t max_work = 1'000'000;

/// Lowers the psi of a grid by closure and intersection.
class PairProof {
  public:
    PairProof(const RowsView& rows, const ChainsView& chains, const TangentGrid& grid,
              KeyColumns& key_columns, const ProofBuffers& buffers)
        : rows_(rows),
          chains_(chains),
          grid_(grid),
          key_columns_(key_columns),
          buffers_(buffers),
          slopes_(grid.slopes()),
          psi_(SlopeVector::from(grid.psi())) {
        choose_min_price();
    }

    bool holds(bool has_intersection) {
        return holds_by_closure() || (has_intersection && holds_by_intersection());
    }

  private:
    /// Setting off small prices takes as long as setting off large ones. The shares were found by
    /// trying: more nodes, less time. Sets: the smallest price worth the effort.
    void choose_min_price() {
        const double share = rows_.size < 512 ? 0.3 : 0.6;
        const double slope = slopes_[n_slopes / 2];
        std::size_t n_positive = 0;
        for (std::size_t i = 0; i < rows_.size; ++i)
            n_positive += grid_.gain(i) - slope * rows_.hessians[i] > 0.0;
        min_price_ = n_positive == 0
                         ? 0.0
                         : share * grid_.positive(n_slopes / 2) / static_cast<double>(n_positive);
    }

    std::size_t n_chunks() const { return key_columns_.n_chunks(); }
    double* gaining_left(std::size_t row) const { return buffers_.gaining_left + row * n_slopes; }
    double* costing_left(std::size_t row) const { return buffers_.costing_left + row * n_slopes; }

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

    /// Rows in order, which is descending order of their keys: only rows before a gaining one can
    /// contain its key.
    bool holds_by_closure() {
        constexpr std::size_t patience = 16;  // gaining rows between two tests
        key_columns_.make();
        for (std::size_t b = 0; b < n_chunks() * width; ++b)
            buffers_.gaining_set[b] = buffers_.costing_set[b] = 0;
        work_ = 0;
        SlopeVector psi = psi_;
        std::size_t n_seen = 0;
        for (std::size_t i = 0; i < rows_.size; ++i) {
            // Prices fall with the slope: the ends of the grid tell their signs.
            const double gain = grid_.gain(i), hessian = rows_.hessians[i];
            if (gain - slopes_[0] * hessian > min_price_) {
                const SlopeVector before = positive_part(grid_.prices(i));
                const SlopeVector left = set_off_against_supersets(i, before);
                SlopeVector gone = before;
                gone -= left;
                psi -= gone;
                if (left.has_positive()) {
                    left.to(gaining_left(i));
                    insert(buffers_.gaining_set, i);
                }
                if (++n_seen % patience == 0) {
                    if (grid_.is_below(psi)) return true;
                    if (work_ > max_work) return false;
                }
            }
            if (slopes_[n_slopes - 1] * hessian - gain > min_price_) {
                positive_part(negative(grid_.prices(i))).to(costing_left(i));
                insert(buffers_.costing_set, i);
            }
        }
        psi_ = psi;
        return grid_.is_below(psi);
    }

    /// What is left of a gaining row's prices after the costing rows whose keys contain its own.
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
        double gains[n_slopes], costs[n_slopes], best[n_slopes];
        sum(buffers_.gaining_set, buffers_.gaining_left).to(gains);
        sum(buffers_.costing_set, buffers_.costing_left).to(costs);
        psi_.to(best);
        for (std::size_t j = 0; j < n_slopes; ++j) best[j] -= smaller_of(0.5 * gains[j], costs[j]);
        return !grid_.is_below(SlopeVector::from(best));
    }

    /// Costing rows with much left first.
    bool holds_by_intersection() {
        if (is_out_of_reach()) return false;
        double all[n_slopes];
        sum(buffers_.costing_set, buffers_.costing_left).to(all);
        std::size_t n_costing = 0;
        for (std::size_t b = 0; b < n_chunks() * width; ++b)
            n_costing += static_cast<std::size_t>(count_bits(buffers_.costing_set[b]));
        const double average = all[n_slopes - 1] / static_cast<double>(n_costing + 1);
        constexpr std::size_t patience = 4;  // costing rows between two tests
        std::size_t n_tried = 0;
        for (const bool is_first_round : {true, false}) {
            for (std::size_t b = 0; b < n_chunks() * width; ++b) {
                for (Word bits = buffers_.costing_set[b]; bits != 0; bits &= bits - 1) {
                    const std::size_t n = b * word_bits + lowest_bit(bits);
                    if ((costing_left(n)[n_slopes - 1] >= average) != is_first_round) continue;
                    if (work_ > max_work) return false;
                    set_off_pairs(n);
                    if (++n_tried % patience != 0) continue;
                    if (grid_.is_below(psi_)) return true;
                    if (n_tried % (4 * patience) == 0 && is_out_of_reach()) return false;
                }
            }
        }
        return grid_.is_below(psi_);
    }

    /// Sets off pairs of gaining rows against a costing one, beginning with those that are closest
    /// to being inside it: they have most partners.
    void set_off_pairs(std::size_t costing) {
        find_frontier(costing);
        find_near_gaining();
        SlopeVector left = SlopeVector::from(costing_left(costing));
        SlopeVector psi = psi_;
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
        left.to(costing_left(costing));
        if (!left.has_positive()) remove(buffers_.costing_set, costing);
        psi_ = psi;
    }

    /// Sets: the largest column of each chain that a costing row is not in. A gaining row that is
    /// in none of them is inside it.
    void find_frontier(std::size_t costing) {
        for (std::size_t p = 0; p < rows_.n_planes; ++p)
            buffers_.frontier[p] = chains_.tops[p] & ~rows_.plane(p)[costing];
        for (std::size_t p = 0; p < rows_.n_planes && key_columns_.has_chains(); ++p) {
            for (Word bits = key_columns_.tight_plane(p)[costing]; bits != 0; bits &= bits - 1) {
                const std::int32_t below =
                    chains_.below[p * word_bits + lowest_bit(bits)] - chains_.first;
                if (below >= 0) insert(buffers_.frontier, static_cast<std::size_t>(below));
            }
        }
    }

    /// Sets: gaining rows in one, two and three columns of the frontier. Counts in binary, for all
    /// rows of a chunk at once.
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

    /// Returns whether there was any partner, and some of the costing row is left.
    bool set_off_with_partners(std::size_t gaining, SlopeVector& cost, SlopeVector& psi) {
        SlopeVector left = SlopeVector::from(gaining_left(gaining));
        bool has_partner = false, is_left = true;
        for (std::size_t chunk = 0; chunk < n_chunks() && is_left; ++chunk) {
            // Partners are in none of the columns that keep it from being inside the costing row.
            // If they are in one of them, they are in the one of the frontier.
            WordVector partners = load(buffers_.gaining_set + chunk * width);
            if (!any(partners != WordVector{})) continue;
            const Word* columns = key_columns_.of_chunk(chunk);
            for (std::size_t p = 0; p < rows_.n_planes; ++p, columns += word_bits * width) {
                Word bits = rows_.plane(p)[gaining] & buffers_.frontier[p];
                for (; bits != 0; bits &= bits - 1)
                    partners &= ~load(columns + lowest_bit(bits) * width);
            }
            is_left = for_each_row(chunk, partners, [&](std::size_t i) {
                SlopeVector other = SlopeVector::from(gaining_left(i));
                const SlopeVector amount = smaller(smaller(left, other), cost);
                ++work_;
                if (amount.has_positive()) {
                    has_partner = true;
                    left -= amount;
                    cost -= amount;
                    psi -= amount;
                    other -= amount;
                    other.to(gaining_left(i));
                    if (!other.has_positive()) remove(buffers_.gaining_set, i);
                }
                return smaller(left, cost).has_positive();
            });
        }
        left.to(gaining_left(gaining));
        if (!left.has_positive()) remove(buffers_.gaining_set, gaining);
        return has_partner && cost.has_positive();
    }

    static constexpr std::size_t chunk_size = KeyColumns::chunk_size;

    const RowsView& rows_;
    const ChainsView& chains_;
    const TangentGrid& grid_;
    KeyColumns& key_columns_;
    const ProofBuffers& buffers_;
    const double* slopes_;
    SlopeVector psi_;
    double min_price_ = 0.0;
    std::size_t work_ = 0;
};

}  // namespace

bool is_proven_below(const RowsView& rows, const ChainsView& chains, const ForcedRows& forced,
                     double l2_regularization, double value, const ProofEffort& effort,
                     const ProofBuffers& buffers) {
    if (!(value > 0.0)) return false;
    const Totals totals = totals_of(rows);
    KeyColumns columns(rows, chains, buffers);
    TangentGrid positive(rows, totals, 1.0, forced, l2_regularization);
    TangentGrid negative(rows, totals, -1.0, forced, l2_regularization);
    const auto holds = [&](TangentGrid& grid) {
        if (grid.is_proven_below(value)) return true;
        if (!effort.closure || !grid.can_be_proven()) return false;
        return PairProof(rows, chains, grid, columns, buffers).holds(effort.intersection);
    };
    // The sign with more to gain is more likely to spoil the proof.
    const bool is_swapped = negative.max_gain() > positive.max_gain();
    return holds(is_swapped ? negative : positive) && holds(is_swapped ? positive : negative);
}

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

// All sets of a few conditions, from a table of sums.

#include "librulesearch/kernels/table_scan.hpp"

#include "librulesearch/kernels/kernel_functions.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {
namespace {

using Number = std::int32_t;

/// Adds up rows of numbers; plain loops, which compilers turn into vectors.
inline void copy(Number* __restrict out, const Number* __restrict in, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = in[i];
}
inline void add(Number* __restrict out, const Number* __restrict in, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] += in[i];
}
inline void subtract(Number* __restrict out, const Number* __restrict in, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] -= in[i];
}

inline void sum_of(Number* __restrict out, const Number* a, const Number* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
inline void difference_of(Number* __restrict out, const Number* a, const Number* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = a[i] - b[i];
}

inline bool are_zero(const Number* in, std::size_t n) {
    Number any = 0;
    for (std::size_t i = 0; i < n; ++i) any |= in[i];
    return any == 0;
}

/// Sums of a cell side by side.
template <std::size_t n>
struct Stride {
#if defined(__GNUC__)
    // Said outright, as compilers do not see it for two numbers.
    typedef Number Numbers
        __attribute__((vector_size(n * sizeof(Number)), aligned(sizeof(Number)), may_alias));
    static Numbers& at(Number* cell) { return *reinterpret_cast<Numbers*>(cell); }
    static const Numbers& at(const Number* cell) { return *reinterpret_cast<const Numbers*>(cell); }
    static void clear(Number* out) { at(out) = Numbers{}; }
    static void copy(Number* out, const Number* in) { at(out) = at(in); }
    static void add(Number* out, const Number* in) { at(out) += at(in); }
    static void subtract(Number* out, const Number* in) { at(out) -= at(in); }
#else
    static void clear(Number* out) {
        for (std::size_t i = 0; i < n; ++i) out[i] = 0;
    }
    static void copy(Number* out, const Number* in) {
        for (std::size_t i = 0; i < n; ++i) out[i] = in[i];
    }
    static void add(Number* out, const Number* in) {
        for (std::size_t i = 0; i < n; ++i) out[i] += in[i];
    }
    static void subtract(Number* out, const Number* in) {
        for (std::size_t i = 0; i < n; ++i) out[i] -= in[i];
    }
#endif
    static void add(std::int64_t* __restrict out, const Number* __restrict in) {
        for (std::size_t i = 0; i < n; ++i) out[i] += in[i];
    }
    static constexpr std::size_t size() { return n; }
    static bool all_zero(const Number* in, std::size_t n_cells) {
        return are_zero(in, n_cells * n);
    }
};

/// The same, in whole eights.
struct AnyStride {
    std::size_t n;

    std::size_t size() const { return n; }
    void clear(Number* out) const {
        for (std::size_t i = 0; i < n; i += 8) Stride<8>::clear(out + i);
    }
    void copy(Number* out, const Number* in) const {
        for (std::size_t i = 0; i < n; i += 8) Stride<8>::copy(out + i, in + i);
    }
    bool all_zero(const Number* in, std::size_t n_cells) const { return are_zero(in, n_cells * n); }
    template <typename Sum>
    void add(Sum* out, const Number* in) const {
        for (std::size_t i = 0; i < n; i += 8) Stride<8>::add(out + i, in + i);
    }
    void subtract(Number* out, const Number* in) const {
        for (std::size_t i = 0; i < n; i += 8) Stride<8>::subtract(out + i, in + i);
    }
};

class Scanner {
  public:
    explicit Scanner(const TableScan& scan) : scan_(scan), n_lanes_(scan.lanes.size) {
        Number* next = scan.buffer;
        std::size_t row_size = scan.lanes.row_size();
        for (std::size_t axis = scan.n_axes; axis-- > 0;) {
            row_size_[axis] = row_size;
            slots_[axis] = next;
            next += row_size * (scan.axes[axis].n_singles + 2);
            row_size *= scan.axes[axis].n_bins;
        }
    }

    /// Returns how many sets were looked at.
    std::uint64_t run() {
        descend<0>(scan_.cells, scan_.n_pairs, 0.0F);
        return n_tests_ * n_lanes_;
    }

  private:
    // Slices of a table between two looks at the clock: far below a second.
    static constexpr std::uint32_t n_slices_at_once = 16;

    /// Goes through the masks of an axis, given the sums of its bins and the largest share of the
    /// columns on the axes above.
    template <std::size_t level>
    void descend(const Number* bins, std::size_t n_pairs, float share_above) {
        const TableAxis& axis = scan_.axes[level];
        const std::size_t size = row_size_[level];
        Number* slot = slots_[level];
        copy(slot, bins, size);
        for (std::size_t bin = 1; bin < axis.n_bins; ++bin) add(slot, bins + bin * size, size);
        for (std::size_t mask = 0; mask < axis.n_masks; ++mask) {
            const bool is_pair = mask >= axis.n_singles;
            if (is_pair && n_pairs == 0) return;
            if (mask <= axis.n_singles) slot += size;
            const bool is_allowed = scan_.pairs == nullptr || may_join(level, axis.columns[mask]);
            // Single conditions may be parents of others.
            if (is_pair && !is_allowed) continue;
            sum(level, axis.masks[mask], axis.bins, bins, slot);
            if (!is_allowed) continue;
            masks_[level] = static_cast<std::uint32_t>(mask);
            const std::size_t n_left = n_pairs - (is_pair ? 1 : 0);
            const float share = larger_share(share_above, axis.columns[mask]);
            if constexpr (level + 1 < max_outer_axes) {
                if (level + 1 < scan_.n_axes) {
                    descend<level + 1>(slot, n_left, share);
                    if (is_stopped()) return;
                    continue;
                }
            }
            test(slot, share);
        }
    }

    float larger_share(float share, const std::array<std::uint32_t, 2>& columns) const {
        if (scan_.shares == nullptr) return share;
        for (const std::uint32_t column : columns)
            share = share < scan_.shares[column] ? scan_.shares[column] : share;
        return share;
    }

    bool is_stopped() {
        if (!is_stopped_ && ++n_slices_ % n_slices_at_once == 0)
            is_stopped_ = scan_.is_stopped(scan_.context);
        return is_stopped_;
    }

    bool has_pair(std::uint32_t a, std::uint32_t b) const {
        return has_bit(scan_.pairs + a * scan_.pair_stride, b);
    }

    /// Whether a mask may be in a set with those on the axes above.
    bool may_join(std::size_t level, const std::array<std::uint32_t, 2>& columns) const {
        if (!has_pair(columns[0], columns[1])) return false;
        for (std::size_t above = 0; above < level; ++above)
            for (const std::uint32_t a : scan_.axes[above].columns[masks_[above]])
                if (!has_pair(a, columns[0]) || !has_pair(a, columns[1])) return false;
        return true;
    }

    void sum(std::size_t level, const MaskStep& step, const std::uint8_t* bin, const Number* bins,
             Number* slot) const {
        const std::size_t size = row_size_[level];
        bin += step.begin;
        const std::uint8_t* const added = bin + step.n_added;
        const std::uint8_t* const removed = added + step.n_removed;
        const Number* start = step.parent < 0
                                  ? bins + *bin++ * size
                                  : slots_[level] + static_cast<std::size_t>(step.parent) * size;
        // One pass for the start and the first bin.
        if (bin != added) {
            sum_of(slot, start, bins + *bin++ * size, size);
        } else if (bin != removed) {
            difference_of(slot, start, bins + *bin++ * size, size);
        } else {
            copy(slot, start, size);
        }
        while (bin < added) add(slot, bins + *bin++ * size, size);
        while (bin < removed) subtract(slot, bins + *bin++ * size, size);
    }

    bool is_wanted(const Number* g, std::size_t lane, float scale) const {
        const auto square = [](Number x) { return static_cast<float>(x) * static_cast<float>(x); };
        if (!(square(g[lane]) > scan_.least_square)) return false;
        float sum = square(g[lane]) - scale * static_cast<float>(g[n_lanes_ + lane]);
        for (std::size_t k = 0; k < scan_.lanes.sums.n_components; ++k)
            sum += scan_.square_scales[k] * square(g[(2 + k) * n_lanes_ + lane]);
        return sum > scan_.threshold;
    }

    bool covers_enough(const Number* g, std::size_t lane) const {
        const TableSums& sums = scan_.lanes.sums;
        return !sums.has_coverage || g[(sums.size() - 1) * n_lanes_ + lane] >= scan_.min_coverage;
    }

    void test(const Number* g, float share) {
        ++n_tests_;
        if (scan_.shares != nullptr) {
            test_lanes<Test::shares>(g, share);
        } else if (scan_.lanes.sums.n_components > 0) {
            test_lanes<Test::components>(g, share);
        } else {
            test_lanes<Test::plain>(g, share);
        }
    }

    enum class Test { plain, shares, components };

    template <Test kind>
    void test_lanes(const Number* g, float share) {
        // Hits are rare: first whether there are any, in a loop without branches.
        Number any[lane_block] = {};
        for (std::size_t begin = 0; begin < n_lanes_; begin += lane_block)
            note_hits<kind>(g + begin, begin, share, any);
        if (are_zero(any, lane_block)) return;
        for (std::size_t begin = 0; begin < n_lanes_; begin += lane_block) {
            Number hits[lane_block] = {};
            note_hits<kind>(g + begin, begin, share, hits);
            if (are_zero(hits, lane_block)) continue;
            for (std::size_t i = 0; i < lane_block; ++i) {
                const std::size_t lane = begin + i;
                // A hit may raise what is wanted.
                if (hits[i] != 0 && is_wanted(g, lane, scale_of<kind>(lane, share)) &&
                    covers_enough(g, lane))
                    scan_.on_hit(scan_.context, masks_, lane);
            }
        }
    }

    /// What a unit of J counts for.
    template <Test kind>
    float scale_of(std::size_t lane, float share) const {
        if constexpr (kind != Test::shares) return scan_.scale;
        const float of_lane = scan_.lane_shares[lane];
        return scan_.scale * (of_lane > share ? of_lane : share);
    }

    /// Marks the lanes of a block that have a set that is wanted.
    template <Test kind>
    void note_hits(const Number* g, std::size_t begin, float share, Number* any) const {
        const Number* next = g + n_lanes_;
        float sums[lane_block];
        for (std::size_t i = 0; i < lane_block; ++i) {
            const float root = static_cast<float>(g[i]);
            sums[i] = root * root - scale_of<kind>(begin + i, share) * static_cast<float>(next[i]);
        }
        if constexpr (kind == Test::components) {
            if (!has_large_square(g)) return;
            for (std::size_t k = 0; k < scan_.lanes.sums.n_components; ++k) {
                next += n_lanes_;
                const float scale = scan_.square_scales[k];
                for (std::size_t i = 0; i < lane_block; ++i) {
                    const float root = static_cast<float>(next[i]);
                    sums[i] += scale * (root * root);
                }
            }
        }
        for (std::size_t i = 0; i < lane_block; ++i) any[i] |= sums[i] > scan_.threshold ? 1 : 0;
    }

    bool has_large_square(const Number* g) const {
        Number any = 0;
        for (std::size_t i = 0; i < lane_block; ++i) {
            const float root = static_cast<float>(g[i]);
            any |= root * root > scan_.least_square ? 1 : 0;
        }
        return any != 0;
    }

    const TableScan& scan_;
    std::size_t n_lanes_;
    std::size_t row_size_[max_outer_axes] = {};
    Number* slots_[max_outer_axes] = {};
    std::uint32_t masks_[max_outer_axes] = {};
    std::uint64_t n_tests_ = 0;
    std::uint32_t n_slices_ = 0;
    bool is_stopped_ = false;
};

/// Calls a function template with the stride as a constant where it is a small one, so that all
/// sums of a cell are added at once.
template <typename Visit>
inline void with_stride(std::size_t stride, Visit&& visit) {
    switch (stride) {
        case 2:
            return visit(Stride<2>{});
        case 4:
            return visit(Stride<4>{});
        case 8:
            return visit(Stride<8>{});
        case 16:
            return visit(Stride<16>{});
        default:
            return visit(AnyStride{stride});
    }
}

/// The sums over a mask of the last axis, from those of its bins and of masks before it.
template <typename Strided>
inline void sum_mask(const Strided stride, const MaskStep& step, const TableAxis& axis,
                     const Number* bins, const Number* sums, Number* out) {
    if (step.parent < 0) {
        stride.clear(out);
    } else {
        stride.copy(out, sums + static_cast<std::size_t>(step.parent) * stride.size());
    }
    const std::uint8_t* bin = axis.bins + step.begin;
    for (std::size_t i = 0; i < step.n_added; ++i) stride.add(out, bins + *bin++ * stride.size());
    for (std::size_t i = 0; i < step.n_removed; ++i)
        stride.subtract(out, bins + *bin++ * stride.size());
}

/// Sums of several masks side by side become lanes.
template <typename Strided>
inline void write_lanes(const Strided stride, const Number* __restrict sums, std::size_t n_masks,
                        const Lanes& lanes, Number* __restrict row) {
    for (std::size_t k = 0; k < lanes.sums.size(); ++k)
        for (std::size_t lane = 0; lane < n_masks; ++lane)
            row[k * lanes.size + lane] = sums[lane * stride.size() + k];
}

/// Axes with so few bins have their masks added up side by side.
constexpr std::size_t few_bins = 16;

/// By bin and lane: all bits where the mask of the lane has the bin, none where not.
struct Members {
    Number bits[few_bins][lanes_at_once];
};

/// Sets: the bins of masks, as bits. Single masks come before what is made from them.
inline Number bins_of(const MaskStep& step, const TableAxis& axis, const Number* parents) {
    Number bits = step.parent < 0 ? 0 : parents[step.parent];
    const std::uint8_t* bin = axis.bins + step.begin;
    for (std::size_t i = 0; i < std::size_t{step.n_added} + step.n_removed; ++i)
        bits ^= Number{1} << *bin++;
    return bits;
}

/// Adds the sums of a cell over some masks to its lanes, whole blocks of them: those beyond the
/// masks stay as they are.
inline void add_members(const Members& members, const Number* bins, std::size_t n_bins,
                        std::size_t stride, Number* out) {
#if defined(__GNUC__)
    using Block = Stride<lanes_at_once>;
    Block::Numbers sums = Block::at(out);
    for (std::size_t bin = 0; bin < n_bins; ++bin)
        sums += bins[bin * stride] & Block::at(members.bits[bin]);
    Block::at(out) = sums;
#else
    for (std::size_t bin = 0; bin < n_bins; ++bin)
        for (std::size_t i = 0; i < lanes_at_once; ++i)
            out[i] += bins[bin * stride] & members.bits[bin][i];
#endif
}

/// `parents`: room for a number for each single mask and one more.
inline void fill_lanes_of_few_bins(const Number* cells, std::size_t n_cells, const TableAxis& axis,
                                   std::size_t first_mask, std::size_t n_masks, Number* parents,
                                   const Lanes& lanes, Number* rows) {
    const std::size_t stride = lanes.sums.stride(), end = first_mask + n_masks;
    parents[0] = static_cast<Number>((1U << axis.n_bins) - 1U);
    for (std::size_t mask = 0; mask < axis.n_singles; ++mask)
        parents[mask + 1] = bins_of(axis.masks[mask], axis, parents);
    for (std::size_t first = first_mask; first < end; first += lanes_at_once) {
        Members members = {};
        for (std::size_t i = 0; i < lanes_at_once && first + i < end; ++i) {
            const Number bits = bins_of(axis.masks[first + i], axis, parents);
            for (std::size_t bin = 0; bin < axis.n_bins; ++bin)
                members.bits[bin][i] = -((bits >> bin) & 1);
        }
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
            const Number* bins = cells + cell * axis.n_bins * stride;
            Number* row = rows + cell * lanes.row_size() + (first - first_mask);
            for (std::size_t k = 0; k < lanes.sums.size(); ++k)
                add_members(members, bins + k, axis.n_bins, stride, row + k * lanes.size);
        }
    }
}

template <typename Sum>
inline void add_each(const PackedRows& rows, std::size_t n_bins, std::size_t stride, Sum* cells) {
    with_stride(stride, [&](const auto strided) {
        for (std::size_t row = 0; row < rows.size; ++row)
            strided.add(cells + (rows.base[row] * n_bins + rows.codes[row]) * strided.size(),
                        rows.entries + row * strided.size());
    });
}

}  // namespace

std::uint64_t scan_table(const TableScan& scan) { return Scanner(scan).run(); }

void number_cells(const std::uint8_t* codes, std::size_t n_bins, std::size_t n_rows,
                  std::uint32_t* cells) {
    const auto n = static_cast<std::uint32_t>(n_bins);
    for (std::size_t row = 0; row < n_rows; ++row) cells[row] = cells[row] * n + codes[row];
}

void add_rows(const PackedRows& rows, std::size_t n_bins, std::size_t stride, std::int32_t* cells) {
    add_each(rows, n_bins, stride, cells);
}

void add_fine_rows(const PackedRows& rows, std::size_t n_bins, std::size_t stride,
                   std::int64_t* cells) {
    add_each(rows, n_bins, stride, cells);
}

void fill_lanes(const std::int32_t* cells, std::size_t n_cells, const TableAxis& axis,
                std::size_t first_mask, std::size_t n_masks, std::int32_t* sums, const Lanes& lanes,
                std::int32_t* rows) {
    if (axis.n_bins <= few_bins) {
        fill_lanes_of_few_bins(cells, n_cells, axis, first_mask, n_masks, sums, lanes, rows);
        return;
    }
    const std::size_t n_parents =
        first_mask < axis.n_singles ? first_mask + n_masks : axis.n_singles;
    with_stride(lanes.sums.stride(), [&](const auto stride) {
        Number* const spare = sums + (axis.n_singles + 1) * stride.size();
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
            const Number* bins = cells + cell * axis.n_bins * stride.size();
            if (stride.all_zero(bins, axis.n_bins)) continue;  // no row here, and rows are 0
            stride.clear(sums);
            for (std::size_t bin = 0; bin < axis.n_bins; ++bin)
                stride.add(sums, bins + bin * stride.size());
            for (std::size_t mask = 0; mask < n_parents; ++mask)
                sum_mask(stride, axis.masks[mask], axis, bins, sums,
                         sums + (mask + 1) * stride.size());
            Number* const row = rows + cell * lanes.row_size();
            if (first_mask < axis.n_singles) {
                write_lanes(stride, sums + (first_mask + 1) * stride.size(), n_masks, lanes, row);
                continue;
            }
            for (std::size_t lane = 0; lane < n_masks; ++lane) {
                sum_mask(stride, axis.masks[first_mask + lane], axis, bins, sums, spare);
                write_lanes(stride, spare, 1, lanes, row + lane);
            }
        }
    });
}

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

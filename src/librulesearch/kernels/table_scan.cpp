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

    void run() { descend<0>(scan_.cells, scan_.n_pairs); }

  private:
    /// Goes through the masks of an axis, given the sums of its bins.
    template <std::size_t level>
    void descend(const Number* bins, std::size_t n_pairs) {
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
            if constexpr (level + 1 < max_outer_axes) {
                if (level + 1 < scan_.n_axes) {
                    descend<level + 1>(slot, n_left);
                    continue;
                }
            }
            test(slot);
        }
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
        copy(slot,
             step.parent < 0 ? bins + *bin++ * size
                             : slots_[level] + static_cast<std::size_t>(step.parent) * size,
             size);
        while (bin != added) add(slot, bins + *bin++ * size, size);
        while (bin != removed) subtract(slot, bins + *bin++ * size, size);
    }

    bool is_wanted(Number g, Number j) const {
        const float root = static_cast<float>(g);
        return root * root - scan_.scale * static_cast<float>(j) > scan_.threshold;
    }

    bool covers_enough(const Number* coverages, std::size_t lane) const {
        return !scan_.lanes.has_coverage || coverages[lane] >= scan_.min_coverage;
    }

    void test(const Number* g) {
        const Number* j = g + n_lanes_;
        for (std::size_t begin = 0; begin < n_lanes_; begin += lane_block) {
            Number any = 0;
            for (std::size_t i = begin; i < begin + lane_block; ++i)
                any |= is_wanted(g[i], j[i]) ? 1 : 0;
            if (any == 0) continue;
            for (std::size_t i = begin; i < begin + lane_block; ++i)
                if (is_wanted(g[i], j[i]) && covers_enough(j + n_lanes_, i))
                    scan_.on_hit(scan_.context, masks_, i);
        }
    }

    const TableScan& scan_;
    std::size_t n_lanes_;
    std::size_t row_size_[max_outer_axes] = {};
    Number* slots_[max_outer_axes] = {};
    std::uint32_t masks_[max_outer_axes] = {};
};

}  // namespace

void scan_table(const TableScan& scan) { Scanner(scan).run(); }

void add_rows(const std::uint32_t* base, const std::uint8_t* codes, const std::int64_t* packed,
              std::size_t n_rows, std::size_t n_bins, std::int64_t* cells) {
    for (std::size_t row = 0; row < n_rows; ++row)
        cells[base[row] * n_bins + codes[row]] += packed[row];
}

void fill_lanes(const std::int64_t* cells, std::size_t n_cells, const TableAxis& axis,
                std::size_t first_mask, std::size_t n_masks, std::int64_t* sums, const Lanes& lanes,
                std::int32_t* rows) {
    const std::size_t n_parents =
        first_mask < axis.n_singles ? first_mask + n_masks : axis.n_singles;
    for (std::size_t cell = 0; cell < n_cells; ++cell) {
        const std::int64_t* bins = cells + cell * axis.n_bins;
        std::int64_t any = 0;
        for (std::size_t bin = 0; bin < axis.n_bins; ++bin) any |= bins[bin];
        if (any == 0) continue;  // no row here, and rows are 0
        const auto sum_of = [&](const MaskStep& step) {
            std::int64_t sum = step.parent < 0 ? 0 : sums[step.parent];
            const std::uint8_t* bin = axis.bins + step.begin;
            for (std::size_t i = 0; i < step.n_added; ++i) sum += bins[*bin++];
            for (std::size_t i = 0; i < step.n_removed; ++i) sum -= bins[*bin++];
            return sum;
        };
        sums[0] = 0;
        for (std::size_t bin = 0; bin < axis.n_bins; ++bin) sums[0] += bins[bin];
        for (std::size_t mask = 0; mask < n_parents; ++mask)
            sums[mask + 1] = sum_of(axis.masks[mask]);
        Number* g = rows + cell * lanes.row_size();
        for (std::size_t lane = 0; lane < n_masks; ++lane) {
            const std::size_t mask = first_mask + lane;
            const std::int64_t sum =
                mask < axis.n_singles ? sums[mask + 1] : sum_of(axis.masks[mask]);
            const Number j = static_cast<Number>(sum & 0xffffffff);
            g[lane] = static_cast<Number>((sum - j) >> 32);
            g[lanes.size + lane] = j;
        }
    }
}

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

#include "librulesearch/tables/row_tables.hpp"

#include <algorithm>
#include <utility>

namespace rulesearch::tables {
namespace {

// A wide table is read as often as it has narrower ones, and each of them is to cost little next to
// adding rows.
constexpr std::size_t rows_per_cell = 16;
// It stays in the cache of a processor core while rows are added to it.
constexpr std::size_t max_wide_bytes = std::size_t{1} << 19;
// More axes are no use, and finding the best ones takes time.
constexpr std::size_t max_wide_axes = 6;
// The oldest tables make room for others.
constexpr std::size_t max_bytes = std::size_t{1} << 24;
// Their numbers of cells stay in the fastest cache.
constexpr std::size_t rows_at_once = 2048;

std::vector<std::size_t> with(std::vector<std::size_t> axes, std::size_t axis) {
    axes.insert(std::lower_bound(axes.begin(), axes.end(), axis), axis);
    return axes;
}

std::size_t n_cells(const LocalProblem& local, const std::vector<std::size_t>& axes) {
    std::size_t n = 1;
    for (const std::size_t axis : axes) n *= local.axes[axis].n_bins;
    return n;
}

}  // namespace

const std::vector<std::int64_t>& RowTables::sums(const LocalProblem& local, const Packing& packing,
                                                 const std::vector<std::size_t>& axes) {
    if (packing_ != &packing || version_ != packing.version()) {
        packing_ = &packing;
        version_ = packing.version();
        tables_.clear();
        n_bytes_ = 0;
    }
    const std::size_t stride = packing.sums().stride();
    std::vector<std::size_t> different = axes;
    different.erase(std::unique(different.begin(), different.end()), different.end());
    const Table* table = find(different);
    if (table == nullptr)
        table = &add_rows(local, packing, widened(local, std::move(different), stride));
    if (table->axes == axes) return table->sums;
    add_up(local, *table, axes, stride);
    return sums_;
}

/// The table that has all of some axes; null if there is none.
const RowTables::Table* RowTables::find(const std::vector<std::size_t>& axes) const {
    for (const Table& table : tables_)
        if (std::includes(table.axes.begin(), table.axes.end(), axes.begin(), axes.end()))
            return &table;
    return nullptr;
}

/// Some axes, with those that make most of further tables superfluous.
std::vector<std::size_t> RowTables::widened(const LocalProblem& local,
                                            std::vector<std::size_t> axes,
                                            std::size_t stride) const {
    const std::size_t most = std::min(local.rows.size() / rows_per_cell,
                                      max_wide_bytes / (stride * sizeof(std::int64_t)));
    while (axes.size() < max_wide_axes) {
        const std::size_t room = most / n_cells(local, axes);
        std::size_t best = local.axes.size(), most_new = 0;
        for (std::size_t axis = 0; axis < local.axes.size(); ++axis) {
            if (local.axes[axis].n_bins > room) continue;
            if (std::binary_search(axes.begin(), axes.end(), axis)) continue;
            const std::size_t size = std::min(local.n_conditions, axes.size() + 1);
            const std::size_t n_new = n_new_subsets({axis}, axes, 0, size);
            if (n_new > most_new) best = axis, most_new = n_new;
        }
        if (most_new == 0) break;
        axes = with(std::move(axes), best);
    }
    return axes;
}

/// How many sets of so many axes, the chosen ones and some of the others from a first one on, no
/// table has.
std::size_t RowTables::n_new_subsets(std::vector<std::size_t> chosen,
                                     const std::vector<std::size_t>& axes, std::size_t first,
                                     std::size_t size) const {
    if (chosen.size() == size) return find(chosen) == nullptr ? 1 : 0;
    std::size_t n_new = 0;
    for (; first < axes.size(); ++first)
        n_new += n_new_subsets(with(chosen, axes[first]), axes, first + 1, size);
    return n_new;
}

const RowTables::Table& RowTables::add_rows(const LocalProblem& local, const Packing& packing,
                                            std::vector<std::size_t> axes) {
    const std::size_t stride = packing.sums().stride(), n_sums = n_cells(local, axes) * stride;
    n_bytes_ += n_sums * sizeof(std::int64_t);
    while (!tables_.empty() && n_bytes_ > max_bytes) {
        n_bytes_ -= tables_.front().sums.size() * sizeof(std::int64_t);
        tables_.pop_front();
    }
    Table& table = tables_.emplace_back(std::move(axes), std::vector<std::int64_t>(n_sums, 0));
    const Axis& last = local.axes[table.axes.back()];
    for (std::size_t begin = 0; begin < local.rows.size(); begin += rows_at_once) {
        const std::size_t n_rows = std::min(local.rows.size() - begin, rows_at_once);
        cells_.assign(n_rows, 0);
        for (const std::size_t axis : table.axes)
            if (axis != table.axes.back())
                kernels_.number_cells(local.axes[axis].codes.data() + begin,
                                      local.axes[axis].n_bins, n_rows, cells_.data());
        const PackedRows rows{cells_.data(), last.codes.data() + begin,
                              packing.entries() + begin * stride, n_rows};
        kernels_.add_fine_rows(rows, last.n_bins, stride, table.sums.data());
    }
    return table;
}

/// Sets: the sums over some of the axes of a table.
void RowTables::add_up(const LocalProblem& local, const Table& table,
                       const std::vector<std::size_t>& axes, std::size_t stride) {
    sums_.assign(n_cells(local, axes) * stride, 0);
    // By cell of the table: its cell among the sums.
    cells_.assign(1, 0);
    for (const std::size_t axis : table.axes) {
        std::size_t step = 0, of_bin = 1;
        for (std::size_t k = axes.size(); k-- > 0; of_bin *= local.axes[axes[k]].n_bins)
            if (axes[k] == axis) step += of_bin;
        std::vector<std::uint32_t> finer;
        for (const std::uint32_t cell : cells_)
            for (std::size_t bin = 0; bin < local.axes[axis].n_bins; ++bin)
                finer.push_back(static_cast<std::uint32_t>(cell + bin * step));
        cells_ = std::move(finer);
    }
    const std::int64_t* from = table.sums.data();
    for (const std::uint32_t cell : cells_) {
        std::int64_t* __restrict to = sums_.data() + cell * stride;
        for (std::size_t k = 0; k < stride; ++k) to[k] += from[k];
        from += stride;
    }
}

}  // namespace rulesearch::tables

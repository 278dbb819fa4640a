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

void RowTables::add_up(const std::vector<std::size_t>& axes, std::vector<std::int64_t>& sums) {
    const LocalProblem& local = *packing_.local();
    const std::size_t stride = packing_.sums().stride();
    const std::shared_ptr<const Table> table = table_with(axes);
    sums.assign(n_cells(local, axes) * stride, 0);
    // By cell of the table: its cell among the sums.
    std::vector<std::uint32_t> cells(1, 0);
    for (const std::size_t axis : table->axes) {
        std::size_t step = 0, of_bin = 1;
        for (std::size_t k = axes.size(); k-- > 0; of_bin *= local.axes[axes[k]].n_bins)
            if (axes[k] == axis) step += of_bin;
        std::vector<std::uint32_t> finer;
        for (const std::uint32_t cell : cells)
            for (std::size_t bin = 0; bin < local.axes[axis].n_bins; ++bin)
                finer.push_back(static_cast<std::uint32_t>(cell + bin * step));
        cells = std::move(finer);
    }
    const std::int64_t* from = table->sums.data();
    for (const std::uint32_t cell : cells) {
        std::int64_t* __restrict to = sums.data() + cell * stride;
        for (std::size_t k = 0; k < stride; ++k) to[k] += from[k];
        from += stride;
    }
}

/// A table that has all of some axes, as soon as rows are added to it: by this thread, unless
/// another one has begun.
std::shared_ptr<const RowTables::Table> RowTables::table_with(
    const std::vector<std::size_t>& axes) {
    std::vector<std::size_t> different = axes;
    different.erase(std::unique(different.begin(), different.end()), different.end());
    std::unique_lock lock(mutex_);
    std::shared_ptr<Table> table = find(different);
    while (table != nullptr && !table->is_done) {
        table_is_done_.wait(lock);
        table = find(different);  // the other thread may have failed
    }
    if (table != nullptr) return table;
    table = new_table(widened(std::move(different)));
    lock.unlock();
    try {
        add_rows(*table);
    } catch (...) {
        lock.lock();
        forget(table);
        table_is_done_.notify_all();
        throw;
    }
    lock.lock();
    table->is_done = true;
    table_is_done_.notify_all();
    return table;
}

/// The table that has all of some axes, done or not; null if there is none.
std::shared_ptr<RowTables::Table> RowTables::find(const std::vector<std::size_t>& axes) const {
    for (const std::shared_ptr<Table>& table : tables_)
        if (std::includes(table->axes.begin(), table->axes.end(), axes.begin(), axes.end()))
            return table;
    return nullptr;
}

/// Some axes, with those that make most of further tables superfluous.
std::vector<std::size_t> RowTables::widened(std::vector<std::size_t> axes) const {
    const LocalProblem& local = *packing_.local();
    const std::size_t of_cell = packing_.sums().stride() * sizeof(std::int64_t);
    const std::size_t most = std::min(local.rows.size() / rows_per_cell, max_wide_bytes / of_cell);
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

/// An empty table, for which older ones make room.
std::shared_ptr<RowTables::Table> RowTables::new_table(std::vector<std::size_t> axes) {
    const std::size_t n_sums = n_cells(*packing_.local(), axes) * packing_.sums().stride();
    auto table = std::make_shared<Table>();
    table->axes = std::move(axes);
    table->sums.assign(n_sums, 0);
    while (!tables_.empty() && n_bytes_ + n_sums * sizeof(std::int64_t) > max_bytes)
        forget(tables_.front());
    tables_.push_back(table);
    n_bytes_ += n_sums * sizeof(std::int64_t);
    return table;
}

void RowTables::forget(const std::shared_ptr<Table>& table) {
    const auto place = std::find(tables_.begin(), tables_.end(), table);
    if (place == tables_.end()) return;
    n_bytes_ -= (*place)->sums.size() * sizeof(std::int64_t);
    tables_.erase(place);
}

void RowTables::add_rows(Table& table) const {
    const LocalProblem& local = *packing_.local();
    const std::size_t stride = packing_.sums().stride();
    const Axis& last = local.axes[table.axes.back()];
    std::vector<std::uint32_t> cells;
    for (std::size_t begin = 0; begin < local.rows.size(); begin += rows_at_once) {
        const std::size_t n_rows = std::min(local.rows.size() - begin, rows_at_once);
        cells.assign(n_rows, 0);
        for (const std::size_t axis : table.axes)
            if (axis != table.axes.back())
                kernels_.number_cells(local.axes[axis].codes.data() + begin,
                                      local.axes[axis].n_bins, n_rows, cells.data());
        const PackedRows rows{cells.data(), last.codes.data() + begin,
                              packing_.entries() + begin * stride, n_rows};
        kernels_.add_fine_rows(rows, last.n_bins, stride, table.sums.data());
    }
}

}  // namespace rulesearch::tables

#include "librulesearch/tables/local_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace rulesearch::tables {
namespace {

// More cells than rows are mostly empty, and large tables leave the cache.
constexpr double cells_per_row = 2.0;
constexpr double max_joined_bins = 16.0;
constexpr double max_table_bytes = 1 << 27;

/// Whether the largest table leaves no room for others: all but one of its axes, by lanes.
bool needs_too_much_memory(const std::vector<Axis>& axes, std::size_t n_conditions) {
    std::vector<double> n_bins;
    for (const Axis& axis : axes) n_bins.push_back(static_cast<double>(axis.n_bins));
    std::sort(n_bins.rbegin(), n_bins.rend());
    double n_bytes = max_lane_sums * sizeof(std::int32_t);
    for (std::size_t axis = 0; axis + 1 < std::min(n_conditions, axes.size()); ++axis)
        n_bytes *= n_bins[axis];
    return n_bytes > max_table_bytes;
}

/// By row: the first row with equal codes on all axes.
std::vector<std::uint32_t> first_equal_rows(std::size_t n_rows, const std::vector<Axis>& axes) {
    std::vector<std::uint64_t> hashes(n_rows, 0);
    for (const Axis& axis : axes)
        for (std::size_t row = 0; row < n_rows; ++row)
            hashes[row] = (hashes[row] ^ axis.codes[row]) * 0x9e3779b97f4a7c15ULL;
    std::size_t n_slots = 16;
    while (n_slots < 2 * n_rows) n_slots *= 2;
    constexpr auto empty = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> slots(n_slots, empty), first(n_rows);
    const auto are_equal = [&](std::size_t a, std::size_t b) {
        return hashes[a] == hashes[b] &&
               std::all_of(axes.begin(), axes.end(),
                           [&](const Axis& axis) { return axis.codes[a] == axis.codes[b]; });
    };
    for (std::size_t row = 0; row < n_rows; ++row) {
        std::size_t slot = (hashes[row] >> 20) & (n_slots - 1);
        while (slots[slot] != empty && !are_equal(slots[slot], row))
            slot = (slot + 1) & (n_slots - 1);
        if (slots[slot] == empty) slots[slot] = static_cast<std::uint32_t>(row);
        first[row] = slots[slot];
    }
    return first;
}

}  // namespace

std::size_t LocalProblem::n_bytes() const {
    std::size_t n_bytes = sizeof(*this) + rows.size() * (sizeof(rows[0]) + sizeof(sums[0])) +
                          (prefix.size() + ranks.size()) * sizeof(std::uint32_t);
    for (const Axis& axis : axes)
        n_bytes += sizeof(axis) + axis.codes.size() + axis.bins.size() +
                   axis.masks.size() * (sizeof(MaskStep) + sizeof(axis.columns[0]));
    if (pairs) n_bytes += pairs->n_bytes();
    return n_bytes;
}

void LocalProblem::make_axes(const std::vector<Feature>& features, const BitSet& kept) {
    const double n_axes = static_cast<double>(std::max<std::size_t>(n_conditions, 2));
    const double n_cells = cells_per_row * static_cast<double>(rows.size());
    const double n_bins = std::min(std::pow(n_cells, 1.0 / n_axes), max_joined_bins);
    axes = tables::make_axes(features, rows, kept, static_cast<std::size_t>(n_bins),
                             n_conditions > 2, allowed_pairs());
}

void LocalProblem::merge_rows() {
    const std::vector<std::uint32_t> first = first_equal_rows(rows.size(), axes);
    std::vector<std::uint32_t> place(rows.size());
    std::vector<Statistics> merged(sums.begin(), sums.end());
    std::size_t n_kept = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (first[row] != row) {
            merged[place[first[row]]] += sums[row];
            continue;
        }
        place[row] = static_cast<std::uint32_t>(n_kept);
        rows[n_kept] = rows[row];
        merged[n_kept] = sums[row];
        for (Axis& axis : axes) axis.codes[n_kept] = axis.codes[row];
        ++n_kept;
    }
    rows.resize(n_kept);
    merged.resize(n_kept);
    own(std::move(merged));
    for (Axis& axis : axes) axis.codes.resize(n_kept);
}

BitSet LocalProblem::later_partners(std::size_t column) const {
    BitSet later(ranks.size());
    pairs->neighbours(column).for_each([&](std::size_t other) {
        if (ranks[other] > ranks[column]) later.insert(other);
    });
    return later;
}

LocalProblem everything(const Problem& problem, std::size_t n_conditions) {
    LocalProblem local;
    local.n_conditions = n_conditions;
    local.columns = BitSet(problem.extents.n_columns(), true);
    local.rows.resize(problem.rows.size());
    std::iota(local.rows.begin(), local.rows.end(), 0U);
    local.sums = problem.rows;
    return local;
}

LocalProblem within(const Problem& problem, std::vector<std::uint32_t> prefix,
                    std::size_t n_conditions) {
    if (prefix.empty()) return everything(problem, n_conditions);
    LocalProblem local;
    local.n_conditions = n_conditions;
    local.columns = BitSet(problem.extents.n_columns(), true);
    std::vector<Statistics> sums;
    problem.extents.extent_of(prefix).for_each([&](std::size_t row) {
        local.rows.push_back(static_cast<std::uint32_t>(row));
        sums.push_back(problem.rows[row]);
    });
    local.own(std::move(sums));
    local.prefix = std::move(prefix);
    return local;
}

double scan_work(std::size_t n_rows, const std::vector<Axis>& axes, std::size_t n_conditions) {
    if (needs_too_much_memory(axes, n_conditions)) return std::numeric_limits<double>::infinity();
    // By number of conditions: sets, combinations of axes, and cells of their tables.
    std::vector<double> n_sets(n_conditions + 1), n_tables(n_conditions + 1);
    std::vector<double> n_cells(n_conditions + 1);
    n_sets[0] = n_tables[0] = n_cells[0] = 1.0;
    for (const Axis& axis : axes) {
        const double n_pairs = static_cast<double>(axis.masks.size() - axis.n_singles);
        for (std::size_t n = n_conditions; n > 0; --n) {
            n_sets[n] += n_sets[n - 1] * static_cast<double>(axis.n_singles);
            n_tables[n] += n_tables[n - 1];
            n_cells[n] += n_cells[n - 1] * static_cast<double>(axis.n_bins);
            if (n < 2) continue;
            n_sets[n] += n_sets[n - 2] * n_pairs;
            n_tables[n] += n_tables[n - 2];  // one axis twice
        }
    }
    const auto sum = [](const std::vector<double>& numbers) {
        return std::accumulate(numbers.begin(), numbers.end(), 0.0);
    };
    return static_cast<double>(n_rows) * sum(n_tables) + sum(n_cells) + sum(n_sets);
}

}  // namespace rulesearch::tables

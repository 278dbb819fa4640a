// Rows and conditions, as tables take them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "librulesearch/engine/open_nodes.hpp"
#include "librulesearch/problem/problem.hpp"
#include "librulesearch/tables/features.hpp"
#include "librulesearch/tables/pair_graph.hpp"

namespace rulesearch::tables {

/// Sums of masks that are looked at together: few enough for most tables to stay in a cache, many
/// enough for what a table costs besides them not to count.
inline constexpr std::size_t max_lane_sums = 768;

/// Tables hold queries of so many conditions, besides those that all of them have.
inline constexpr std::size_t max_scanned = 4;

/// Queries that have some conditions in common, and a few more.
struct LocalProblem {
    LocalProblem() = default;
    LocalProblem(LocalProblem&&) = default;  // sums stay where they are
    LocalProblem(const LocalProblem&) = delete;

    std::vector<std::uint32_t> prefix;  // columns that all queries have
    std::size_t n_conditions = 0;       // further ones of a query at most
    std::vector<std::uint32_t> rows;    // distinct ones in the prefix
    /// By row, of all rows that it stands for: those of the problem, or our own.
    std::span<const Statistics> sums;
    BitSet columns;  // that further conditions may be of
    std::vector<Axis> axes;
    std::shared_ptr<const PairGraph> pairs;  // that a query may have; or none
    bool has_few_pairs = true;               // whether bounds have ruled out most of them
    std::array<SlopeRange, 2> slopes = {};   // see Question
    /// By column, if queries are divided by their first one: which one that is.
    std::vector<std::uint32_t> ranks;
    MemoryCharge charge;

    void own(std::vector<Statistics> given) {
        own_sums_ = std::move(given);
        sums = own_sums_;
    }
    AllowedPairs allowed_pairs() const { return pairs ? pairs->pairs() : AllowedPairs{}; }
    /// Possible partners of a column, of those that come later where it is the first.
    BitSet later_partners(std::size_t column) const;
    std::size_t n_bytes() const;

    /// Makes axes for queries of up to that many conditions, with masks of two of them.
    void make_axes(const std::vector<Feature>& features, const BitSet& kept);
    /// Of rows that no axis tells apart, one stands for all. O(rows * axes).
    void merge_rows();

  private:
    std::vector<Statistics> own_sums_;
};

/// All distinct rows and columns, and no axes yet; with the sums of the problem.
LocalProblem everything(const Problem& problem, std::size_t n_conditions);
/// The rows in some columns, which queries have so many conditions besides; no axes yet.
LocalProblem within(const Problem& problem, std::vector<std::uint32_t> prefix,
                    std::size_t n_conditions);

/// What it costs to look at all queries of up to that many conditions, known before: rows that are
/// added to tables, their cells, and sets of rows that are looked at. An upper bound: pairs of
/// conditions that are ruled out are counted. Infinite if tables are too large.
double scan_work(std::size_t n_rows, const std::vector<Axis>& axes, std::size_t n_conditions);

}  // namespace rulesearch::tables

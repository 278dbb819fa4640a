// The arithmetic that a search spends its time in, once for each instruction set.
//
// All instruction sets give the same bits: sums of statistics are exact, and whatever is rounded is
// computed number by number in one order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "librulesearch/kernels/pair_prices.hpp"
#include "librulesearch/kernels/table_scan.hpp"
#include "librulesearch/problem/bits.hpp"

namespace rulesearch {

/// Rows with keys: bit j of a key says whether the row lies in column j of some order. Bits 64p to
/// 64p + 63 of all keys are next to each other, in *plane* p.
struct RowsView {
    const double* gradients;
    const double* hessians;
    const Word* keys;
    std::size_t plane_size;  // words from one plane to the next
    std::size_t n_planes;
    std::size_t size;

    const Word* plane(std::size_t p) const { return keys + p * plane_size; }
};

/// Rows that every refinement contains.
struct ForcedRows {
    double gradient = 0.0;
    double hessian = 0.0;
};

/// Columns in chains of nested ones: a row in a column is in all columns above it in the chain.
/// Numbers count from the first bit of the first plane.
struct ChainsView {
    const std::int32_t* below;  // by column: the next smaller one in its chain; negative for none;
                                // null if every column is a chain of its own
    const Word* tops;           // the largest column of each chain, in planes
    std::int32_t first;         // number of the first bit, to be subtracted from those in `below`
};

/// Arrays may be read, not used, up to this many elements beyond their end.
inline constexpr std::size_t padding = 8;

/// Sums over the rows in each column.
struct ColumnSums {
    double* gradients;
    double* hessians;
};

inline constexpr std::size_t n_slopes = 8;
/// In how many columns more than a costing row a gaining one may be to be set off against it.
inline constexpr std::size_t n_distances = 3;
/// Sets of rows are read in chunks of this many words.
inline constexpr std::size_t chunk_words = 8;

/// Buffers of a proof, for as many rows as it is about. A set of rows has a bit for each and whole
/// chunks.
struct ProofBuffers {
    double* gaining_left;  // what is left of the prices of gaining rows, n_slopes numbers a row
    double* costing_left;  // and of costing rows, the sign changed
    Word* columns;         // a set for each column
    Word* gaining_set;     // gaining rows of which something is left
    Word* costing_set;     // and costing rows
    Word* near_gaining;    // n_distances sets
    Word* tight_keys;      // a plane of as many rows for each plane
    Word* frontier;        // a word for each plane
};

/// Which arguments a proof uses.
struct ProofEffort {
    bool closure = true;
    bool intersection = true;
};

/// See `sum_vectors`.
inline constexpr std::size_t vector_block = 8, max_vector = 64;

struct Kernels {
    /// Sums over each candidate column, forced rows included, and the bounding theorem applied to
    /// its rows, which come as those with gradients above 0, below 0 (each in descending |g/h|
    /// order) and the rest. A bound that does not exceed `floor` is `floor`. O(rows * columns).
    void (*bound_columns)(const RowsView& rows, std::size_t n_positive, std::size_t n_negative,
                          const ForcedRows& forced, double l2_regularization, double floor,
                          const Word* candidates, const ColumnSums& sums, double* bounds);

    /// Only the sums. O(rows * columns).
    void (*sum_columns)(const RowsView& rows, const ColumnSums& sums);

    /// Whether no refinement is worth more than `value`, as far as it can tell (see
    /// tangent_proof.cpp). Keys are different and in descending order, the last plane counts most.
    bool (*is_proven_below)(const RowsView& rows, const ChainsView& chains,
                            const ForcedRows& forced, double l2_regularization, double value,
                            const ProofEffort& effort, const ProofBuffers& buffers);

    /// Turns 64 rows of 64 bits into columns: bit i of word j becomes bit j of word i.
    void (*transpose)(Word* block);

    /// Replaces each of 2^n_columns values by the sum of those whose index contains its index.
    void (*sum_supersets)(double* values, std::size_t n_columns);

    /// Indices, ascending, of the entries with g^2 >= value * (lambda + h); returns how many.
    std::size_t (*find_above)(const double* gradients, const double* hessians, std::size_t size,
                              double l2_regularization, double value, std::uint32_t* found);

    /// Adds up the rows of a set: `stride` numbers of each, a multiple of `vector_block` of at most
    /// `max_vector`, which follow those of the row before it.
    void (*sum_vectors)(const Word* set, std::size_t n_words, const double* vectors,
                        std::size_t stride, double* sums);

    /// Goes on from the cells of rows in a table to those with one more axis, the last one: cell *
    /// bins + code.
    void (*number_cells)(const std::uint8_t* codes, std::size_t n_bins, std::size_t n_rows,
                         std::uint32_t* cells);

    /// Adds what each row holds, `stride` numbers of `TableSums`, to its cell.
    void (*add_rows)(const PackedRows& rows, std::size_t n_bins, std::size_t stride,
                     std::int32_t* cells);
    /// The same for sums beyond 32 bits.
    void (*add_fine_rows)(const PackedRows& rows, std::size_t n_bins, std::size_t stride,
                          std::int64_t* cells);

    /// Adds up the cells of a table over some masks of its last axis: sums side by side become
    /// lanes, one for each mask, from the first of `rows` on, which are 0 before. `sums`: room for
    /// those of one mask more than the axis has singles, and another one.
    void (*fill_lanes)(const std::int32_t* cells, std::size_t n_cells, const TableAxis& axis,
                       std::size_t first_mask, std::size_t n_masks, std::int32_t* sums,
                       const Lanes& lanes, std::int32_t* rows);

    /// Finds the wanted sets of a table.
    std::uint64_t (*scan_table)(const TableScan& scan);

    /// Sums of the positive prices 2g - slope * h, for `n_prices` slopes.
    void (*sum_gains)(const double* gradients, const double* hessians, std::size_t n_rows,
                      const double* slopes, double* sums);

    /// Prices times a scale, rounded up.
    void (*price_rows)(const double* gradients, const double* hessians, std::size_t n_rows,
                       const double* slopes, const double* scales, Prices* prices);

    /// Adds up prices over the bins of the inner axis (in `cells`), all of them (the first slot)
    /// and those of each of its single masks.
    void (*price_singles)(const PriceTable& table);

    /// Adds up prices over the bins of both axes, then for all rows (the first slots) and for each
    /// single mask of the outer axis over the bins of the inner one.
    void (*price_pairs)(const PriceTable& table);

    /// Adds up bins: all of them, and those of each single mask.
    void (*price_masks)(const TableAxis& axis, const Prices* bins, Prices* slots);

    /// Finds the pairs of conditions that can reach a price, see tables/pair_graph.hpp.
    void (*find_possible_pairs)(const PricedConditions& conditions);
};

/// Names of the instruction sets that this processor has, the best one last; "scalar" always is.
const std::vector<std::string>& instruction_sets();

/// The kernels for one of them; throws std::invalid_argument for another.
const Kernels& kernels(const std::string& instruction_set);

}  // namespace rulesearch

// Kernels of one instruction set; see kernels.hpp for what they do.
#pragma once

#include <type_traits>

#include "librulesearch/kernels/kernels.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {

template <typename Pointer>
using Function = std::remove_pointer_t<Pointer>;

Function<decltype(Kernels::bound_columns)> bound_columns;
Function<decltype(Kernels::sum_columns)> sum_columns;
Function<decltype(Kernels::is_proven_below)> is_proven_below;
Function<decltype(Kernels::transpose)> transpose_block;
Function<decltype(Kernels::sum_supersets)> sum_supersets;
Function<decltype(Kernels::find_above)> find_above;

void add_rows(const std::uint32_t* base, const std::uint8_t* codes, const std::int64_t* packed,
              std::size_t n_rows, std::size_t n_bins, std::int64_t* cells);
void fill_lanes(const std::int64_t* cells, std::size_t n_cells, const TableAxis& axis,
                std::size_t first_mask, std::size_t n_masks, std::int64_t* sums, const Lanes& lanes,
                std::int32_t* rows);
void scan_table(const TableScan& scan);

void sum_gains(const double* gradients, const double* hessians, std::size_t n_rows,
               const double* slopes, double* sums);
void price_rows(const double* gradients, const double* hessians, std::size_t n_rows,
                const double* slopes, const double* scales, Prices* prices);
void price_singles(const PriceTable& table);
void price_pairs(const PriceTable& table);
void price_masks(const TableAxis& axis, const Prices* bins, Prices* slots);
void find_possible_pairs(const PricedConditions& conditions);

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

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
Function<decltype(Kernels::sum_vectors)> sum_vectors;

Function<decltype(Kernels::number_cells)> number_cells;
Function<decltype(Kernels::add_rows)> add_rows;
Function<decltype(Kernels::add_fine_rows)> add_fine_rows;
Function<decltype(Kernels::fill_lanes)> fill_lanes;
Function<decltype(Kernels::scan_table)> scan_table;

void sum_gains(const double* gradients, const double* hessians, std::size_t n_rows,
               const double* slopes, double* sums);
void price_rows(const double* gradients, const double* hessians, std::size_t n_rows,
                const double* slopes, const double* scales, Prices* prices);
void price_singles(const PriceTable& table);
void price_pairs(const PriceTable& table);
void price_masks(const TableAxis& axis, const Prices* bins, Prices* slots);
void find_possible_pairs(const PricedConditions& conditions);

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

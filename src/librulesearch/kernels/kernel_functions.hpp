// Kernels of one instruction set; see kernels.hpp for what they do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "librulesearch/kernels/kernels.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {

void bound_columns(const RowsView& rows, std::size_t n_positive, std::size_t n_negative,
                   const ForcedRows& forced, double l2_regularization, double floor,
                   const Word* candidates, const ColumnSums& sums, double* bounds);
void sum_columns(const RowsView& rows, const ColumnSums& sums);
bool is_proven_below(const RowsView& rows, const ChainsView& chains, const ForcedRows& forced,
                     double l2_regularization, double value, const ProofEffort& effort,
                     const ProofBuffers& buffers);
void transpose_block(Word* block);
void sum_supersets(double* values, std::size_t n_columns);
std::size_t find_above(const double* gradients, const double* hessians, std::size_t size,
                       double l2_regularization, double value, std::uint32_t* found);

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

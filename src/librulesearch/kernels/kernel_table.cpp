#include "librulesearch/kernels/kernel_functions.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {

Kernels kernels() {
    return {bound_columns, sum_columns, is_proven_below,    transpose_block, sum_supersets,
            find_above,    sum_vectors, number_cells,       add_rows,        add_fine_rows,
            fill_lanes,    scan_table,  sum_gains,          price_rows,      price_singles,
            price_pairs,   price_masks, find_possible_pairs};
}

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

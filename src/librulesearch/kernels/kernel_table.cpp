#include "librulesearch/kernels/kernel_functions.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {

Kernels kernels() {
    return {bound_columns, sum_columns, is_proven_below, transpose_block, sum_supersets,
            find_above,    add_rows,    fill_lanes,      scan_table};
}

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

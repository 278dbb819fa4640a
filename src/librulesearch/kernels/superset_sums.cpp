// All refinements of a query by a few columns at once.

#include "librulesearch/kernels/kernel_functions.hpp"
#include "librulesearch/kernels/simd.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {

void transpose_block(Word* block) { transpose(block); }

void sum_supersets(double* values, std::size_t n_columns) {
    const std::size_t size = std::size_t{1} << n_columns;
    for (std::size_t step = 1; step < size; step *= 2) {
        for (std::size_t begin = 0; begin < size; begin += 2 * step) {
            double* without = values + begin;
            const double* with = without + step;
            if (step < width) {
                for (std::size_t i = 0; i < step; ++i) without[i] += with[i];
            } else {
                for (std::size_t i = 0; i < step; i += width)
                    store(without + i, load(without + i) + load(with + i));
            }
        }
    }
}

std::size_t find_above(const double* gradients, const double* hessians, std::size_t size,
                       double l2_regularization, double value, std::uint32_t* found) {
    std::size_t n_found = 0;
    std::size_t begin = 0;
    for (; begin + width <= size; begin += width) {
        const Vector gradient = load(gradients + begin);
        const Vector denominator = splat(l2_regularization) + load(hessians + begin);
        unsigned bits = bits_of(gradient * gradient >= splat(value) * denominator);
        for (; bits != 0; bits &= bits - 1)
            found[n_found++] = static_cast<std::uint32_t>(begin + lowest_bit(bits));
    }
    for (; begin < size; ++begin) {
        const double denominator = l2_regularization + hessians[begin];
        if (gradients[begin] * gradients[begin] >= value * denominator)
            found[n_found++] = static_cast<std::uint32_t>(begin);
    }
    return n_found;
}

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

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

namespace {

/// Sums of so many blocks of numbers stay in registers.
template <std::size_t n_blocks>
void sum_blocks(const Word* set, std::size_t n_words, const double* vectors, std::size_t stride,
                double* sums) {
    constexpr std::size_t n = n_blocks * vector_block / width;
    Vector total[n];
    for (std::size_t k = 0; k < n; ++k) total[k] = splat(0.0);
    for (std::size_t w = 0; w < n_words; ++w) {
        for (Word bits = set[w]; bits != 0; bits &= bits - 1) {
            const double* vector = vectors + (w * word_bits + lowest_bit(bits)) * stride;
            for (std::size_t k = 0; k < n; ++k) total[k] += load(vector + k * width);
        }
    }
    for (std::size_t k = 0; k < n; ++k) store(sums + k * width, total[k]);
}

}  // namespace

void sum_vectors(const Word* set, std::size_t n_words, const double* vectors, std::size_t stride,
                 double* sums) {
    std::size_t begin = 0;
    for (; begin + 2 * vector_block <= stride; begin += 2 * vector_block)
        sum_blocks<2>(set, n_words, vectors + begin, stride, sums + begin);
    if (begin < stride) sum_blocks<1>(set, n_words, vectors + begin, stride, sums + begin);
}

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

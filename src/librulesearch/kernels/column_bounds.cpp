// Sums and bounds of all columns of a node, a vector of columns at a time.

#include "librulesearch/kernels/kernel_functions.hpp"
#include "librulesearch/kernels/simd.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {
namespace {

// Columns are gaining_left in blocks of this many vectors, so that an addition need not wait for
// the one before it.
constexpr std::size_t n_vectors = width >= 4 ? 16 / width : 4;
constexpr std::size_t block_size = n_vectors * width;
static_assert(word_bits % block_size == 0);

/// Running sums of a block of columns.
struct Sums {
    Vector gradients[n_vectors];
    Vector hessians[n_vectors];

    explicit Sums(const ForcedRows& forced) {
        for (std::size_t u = 0; u < n_vectors; ++u) {
            gradients[u] = splat(forced.gradient);
            hessians[u] = splat(forced.hessian);
        }
    }
    void add(double gradient, double hessian, Word bits) {
        const WordVector all = splat(bits);
        for (std::size_t u = 0; u < n_vectors; ++u) {
            const Mask mask = mask_of(all, u * width);
            gradients[u] += zero_unless(mask, splat(gradient));
            hessians[u] += zero_unless(mask, splat(hessian));
        }
    }
};

void raise(Vector (&bounds)[n_vectors], const Sums& sums, double l2_regularization) {
    Vector squares[n_vectors], denominators[n_vectors];
    unsigned is_raised = 0;
    for (std::size_t u = 0; u < n_vectors; ++u) {
        squares[u] = sums.gradients[u] * sums.gradients[u];
        // The regularisation is added at the end, so that the sums stay exact.
        denominators[u] = splat(l2_regularization) + sums.hessians[u];
        is_raised |= bits_of(squares[u] > bounds[u] * denominators[u]);
    }
    if (is_raised == 0) return;
    for (std::size_t u = 0; u < n_vectors; ++u) {
        bounds[u] = select(squares[u] > bounds[u] * denominators[u], squares[u] / denominators[u],
                           bounds[u]);
    }
}

/// Sums over some rows, raising the bounds after each one.
Sums accumulate(const RowsView& rows, std::size_t begin, std::size_t end, const Word* keys,
                std::size_t shift, const ForcedRows& forced, double l2_regularization,
                Vector (&bounds)[n_vectors]) {
    Sums sums(forced);
    for (std::size_t i = begin; i < end; ++i) {
        sums.add(rows.gradients[i], rows.hessians[i], keys[i] >> shift);
        raise(bounds, sums, l2_regularization);
    }
    return sums;
}

}  // namespace

void bound_columns(const RowsView& rows, std::size_t n_positive, std::size_t n_negative,
                   const ForcedRows& forced, double l2_regularization, double floor,
                   const Word* candidates, const ColumnSums& out, double* bounds_out) {
    for (std::size_t first = 0; first < rows.n_planes * word_bits; first += block_size) {
        const std::size_t shift = first % word_bits;
        if ((candidates[first / word_bits] >> shift << (word_bits - block_size)) == 0) continue;
        const Word* keys = rows.plane(first / word_bits);
        Vector bounds[n_vectors];
        for (Vector& bound : bounds) bound = splat(floor);
        raise(bounds, Sums(forced), l2_regularization);
        const std::size_t n_signed = n_positive + n_negative;
        const Sums positive =
            accumulate(rows, 0, n_positive, keys, shift, forced, l2_regularization, bounds);
        const Sums negative =
            accumulate(rows, n_positive, n_signed, keys, shift, forced, l2_regularization, bounds);
        Sums neutral{ForcedRows{}};
        for (std::size_t i = n_signed; i < rows.size; ++i)
            neutral.add(0.0, rows.hessians[i], keys[i] >> shift);
        for (std::size_t u = 0; u < n_vectors; ++u) {
            const std::size_t column = first + u * width;
            // The forced rows are in both parts.
            store(out.gradients + column,
                  positive.gradients[u] + (negative.gradients[u] - splat(forced.gradient)));
            store(out.hessians + column, positive.hessians[u] +
                                             (negative.hessians[u] - splat(forced.hessian)) +
                                             neutral.hessians[u]);
            store(bounds_out + column, bounds[u]);
        }
    }
}

void sum_columns(const RowsView& rows, const ColumnSums& out) {
    for (std::size_t first = 0; first < rows.n_planes * word_bits; first += block_size) {
        const Word* keys = rows.plane(first / word_bits);
        Sums sums{ForcedRows{}};
        for (std::size_t i = 0; i < rows.size; ++i)
            sums.add(rows.gradients[i], rows.hessians[i], keys[i] >> (first % word_bits));
        for (std::size_t u = 0; u < n_vectors; ++u) {
            store(out.gradients + first + u * width, sums.gradients[u]);
            store(out.hessians + first + u * width, sums.hessians[u]);
        }
    }
}

}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

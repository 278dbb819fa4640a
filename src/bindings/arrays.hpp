// Arrays from and for Python, and problems made of them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/gil.hpp"
#include "librulesearch/problem/problem.hpp"

using BoolMatrix = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ByteMatrix = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using BoolVector = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using DoubleMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IntVector = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using DoubleVector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename Vector>
void require_length(const Vector& values, const char* name, std::size_t n_rows) {
    if (values.shape(0) == n_rows) return;
    const std::string message = std::string(name) + " must have one entry per row (" +
                                std::to_string(n_rows) + "). Got " +
                                std::to_string(values.shape(0)) + " entries.";
    throw nb::value_error(message.c_str());
}

/// A new NumPy array, filled by `fill(data)` without the GIL.
template <typename Value, typename Fill>
nb::ndarray<nb::numpy, Value, nb::ndim<1>> make_array(std::size_t size, Fill&& fill) {
    auto data = std::make_unique_for_overwrite<Value[]>(size);
    {
        const NoGil no_gil;
        fill(data.get());
    }
    const nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<Value*>(p); });
    return nb::ndarray<nb::numpy, Value, nb::ndim<1>>(data.release(), {size}, owner);
}

/// Sums the rows' statistics over distinct rows, without the GIL.
inline rulesearch::Problem make_problem(const rulesearch::Extents& extents,
                                        const DoubleVector& gradients, const DoubleVector& hessians,
                                        const DoubleVector& coverage, double l2_regularization,
                                        int sign) {
    const std::size_t n_rows = extents.n_rows();
    require_length(gradients, "gradients", n_rows);
    require_length(hessians, "hessians", n_rows);
    require_length(coverage, "coverage", n_rows);
    const NoGil no_gil;
    rulesearch::Problem problem{
        extents, std::vector<rulesearch::Statistics>(extents.n_distinct_rows()), l2_regularization};
    for (std::size_t row = 0; row < n_rows; ++row)
        problem.rows[extents.distinct_row(row)] +=
            {gradients.data()[row], hessians.data()[row], coverage.data()[row]};
    problem.sign = sign;
    return problem;
}

/// Refitted terms: components of what they can imitate, one in each row; cells, of
/// which 0 is that of rows that no rule covers; and excluded sets, one in each row, of bits.
using GivenTerms = std::optional<std::tuple<DoubleMatrix, IntVector, ByteMatrix>>;

/// Sets: the refitted terms, if they are given, which must live as long as the problem. Without the
/// GIL.
void add_refitted_terms(rulesearch::Problem& problem, const DoubleVector& hessians,
                        const GivenTerms& refitted);

/// Adds the class of problems.
void bind_problem(nb::module_& module);

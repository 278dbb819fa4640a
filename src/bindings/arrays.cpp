#include "bindings/arrays.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

using namespace rulesearch;

void add_others(Problem& problem, const DoubleVector& hessians, const DoubleMatrix& projections,
                const IntVector& cells) {
    const Extents& extents = problem.extents;
    const std::size_t n_rows = extents.n_rows();
    require_length(cells, "cells", n_rows);
    if (projections.shape(1) != n_rows) throw nb::value_error("projections must have all rows.");
    const nb::gil_scoped_release no_gil;
    Others& others = problem.others;
    others.n_components = projections.shape(0);
    others.projections.resize(extents.n_distinct_rows() * others.n_components);
    std::map<std::pair<std::size_t, std::uint32_t>, double> parts;  // by distinct row and cell
    std::size_t n_cells = 1;
    for (std::size_t row = 0; row < n_rows; ++row) {
        const std::size_t distinct_row = extents.distinct_row(row);
        for (std::size_t k = 0; k < others.n_components; ++k)
            others.projections[distinct_row * others.n_components + k] +=
                projections.data()[k * n_rows + row];
        const auto cell = static_cast<std::uint32_t>(cells.data()[row]);
        parts[{distinct_row, cell}] += hessians.data()[row];
        n_cells = std::max<std::size_t>(n_cells, cell + 1);
    }
    others.cell_hessians.assign(n_cells, 0.0);
    others.first_part.assign(extents.n_distinct_rows() + 1, 0);
    for (const auto& [key, hessian] : parts) {
        others.parts.push_back({key.second, hessian});
        others.cell_hessians[key.second] += hessian;
        others.first_part[key.first + 1] = others.parts.size();
    }
    others.cell_hessians[0] = std::numeric_limits<double>::infinity();
}

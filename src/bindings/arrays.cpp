#include "bindings/arrays.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

using namespace rulesearch;

namespace {

void add_projections(Problem& problem, const DoubleMatrix& projections) {
    const Extents& extents = problem.extents;
    Others& others = problem.others;
    others.n_components = projections.shape(0);
    others.projections.resize(extents.n_distinct_rows() * others.n_components);
    for (std::size_t k = 0; k < others.n_components; ++k)
        for (std::size_t row = 0; row < extents.n_rows(); ++row)
            others.projections[extents.distinct_row(row) * others.n_components + k] +=
                projections.data()[k * extents.n_rows() + row];
}

void add_cells(Problem& problem, const DoubleVector& hessians, const IntVector& cells) {
    const Extents& extents = problem.extents;
    Others& others = problem.others;
    std::map<std::pair<std::size_t, std::uint32_t>, double> parts;  // by distinct row and cell
    std::size_t n_cells = 1;
    for (std::size_t row = 0; row < extents.n_rows(); ++row) {
        const auto cell = static_cast<std::uint32_t>(cells.data()[row]);
        parts[{extents.distinct_row(row), cell}] += hessians.data()[row];
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

/// A set that tells equal rows apart is not the extent of any query.
void add_taken(Problem& problem, const BoolMatrix& taken) {
    const Extents& extents = problem.extents;
    for (std::size_t k = 0; k < taken.shape(0); ++k) {
        const bool* covered = taken.data() + k * extents.n_rows();
        BitSet inside(extents.n_distinct_rows()), outside(extents.n_distinct_rows());
        for (std::size_t row = 0; row < extents.n_rows(); ++row)
            (covered[row] ? inside : outside).insert(extents.distinct_row(row));
        outside &= inside;
        if (outside.size() == 0) problem.others.taken.insert(std::move(inside));
    }
}

}  // namespace

void add_others(Problem& problem, const DoubleVector& hessians, const GivenOthers& given) {
    if (!given) return;
    const auto& [projections, cells, taken] = *given;
    const std::size_t n_rows = problem.extents.n_rows();
    require_length(cells, "cells", n_rows);
    if (projections.shape(1) != n_rows || taken.shape(1) != n_rows)
        throw nb::value_error("projections and taken sets must have a column per row.");
    const nb::gil_scoped_release no_gil;
    add_projections(problem, projections);
    add_cells(problem, hessians, cells);
    add_taken(problem, taken);
}

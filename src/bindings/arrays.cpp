#include "bindings/arrays.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

using namespace rulesearch;

namespace {

/// Projections of rows that are all distinct are not copied.
void add_projections(Problem& problem, const DoubleMatrix& projections) {
    const Extents& extents = problem.extents;
    RefittedTerms& refitted = problem.refitted;
    refitted.n_components = projections.shape(0);
    refitted.n_rows = extents.n_distinct_rows();
    if (refitted.n_rows == extents.n_rows()) {
        refitted.given_projections = projections.data();
        return;
    }
    refitted.own_projections.resize(refitted.n_rows * refitted.n_components);
    for (std::size_t k = 0; k < refitted.n_components; ++k)
        for (std::size_t row = 0; row < extents.n_rows(); ++row)
            refitted.own_projections[k * refitted.n_rows + extents.distinct_row(row)] +=
                projections.data()[k * extents.n_rows() + row];
}

/// Of rows of equal cells in a distinct row, one part holds the sum.
void add_parts(Problem& problem, const DoubleVector& hessians, const IntVector& cells) {
    const Extents& extents = problem.extents;
    RefittedTerms& refitted = problem.refitted;
    if (extents.n_distinct_rows() == extents.n_rows()) {  // in the same order
        for (std::size_t row = 0; row < extents.n_rows(); ++row)
            refitted.parts.push_back(
                {static_cast<std::uint32_t>(cells.data()[row]), hessians.data()[row]});
        refitted.first_part.resize(extents.n_rows() + 1);
        std::iota(refitted.first_part.begin(), refitted.first_part.end(), 0U);
        return;
    }
    std::vector<std::uint32_t> next(extents.n_distinct_rows() + 1, 0);  // by distinct row
    for (std::size_t row = 0; row < extents.n_rows(); ++row) ++next[extents.distinct_row(row) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    refitted.parts.resize(extents.n_rows());
    for (std::size_t row = 0; row < extents.n_rows(); ++row)
        refitted.parts[next[extents.distinct_row(row)]++] = {
            static_cast<std::uint32_t>(cells.data()[row]), hessians.data()[row]};
    refitted.first_part.assign(1, 0);
    refitted.first_part.reserve(extents.n_distinct_rows() + 1);
    std::uint32_t begin = 0, n_parts = 0;
    for (std::size_t distinct = 0; distinct < extents.n_distinct_rows(); ++distinct) {
        const std::uint32_t end = next[distinct], first = n_parts;
        RefittedTerms::Part* parts = refitted.parts.data();
        if (end - begin > 1)
            std::stable_sort(parts + begin, parts + end,
                             [](const auto& a, const auto& b) { return a.cell < b.cell; });
        for (; begin < end; ++begin) {
            const RefittedTerms::Part part = refitted.parts[begin];
            if (n_parts > first && refitted.parts[n_parts - 1].cell == part.cell) {
                refitted.parts[n_parts - 1].hessian += part.hessian;
            } else {
                refitted.parts[n_parts++] = part;
            }
        }
        refitted.first_part.push_back(n_parts);
    }
    refitted.parts.resize(n_parts);
}

/// Whether rows are numbered from 1, and queries tell all of them apart.
bool are_single_rows(const Extents& extents, const IntVector& cells) {
    if (extents.n_distinct_rows() != extents.n_rows()) return false;
    for (std::size_t row = 0; row < extents.n_rows(); ++row)
        if (static_cast<std::size_t>(cells.data()[row]) != row + 1) return false;
    return true;
}

void add_cells(Problem& problem, const DoubleVector& hessians, const IntVector& cells) {
    RefittedTerms& refitted = problem.refitted;
    refitted.has_single_rows = are_single_rows(problem.extents, cells);
    if (refitted.has_single_rows) return;
    refitted.parts.reserve(problem.extents.n_rows());
    add_parts(problem, hessians, cells);
    std::uint32_t last = 0;
    for (const RefittedTerms::Part& part : refitted.parts) last = std::max(last, part.cell);
    refitted.cell_hessians.assign(std::size_t{last} + 1, 0.0);
    for (const RefittedTerms::Part& part : refitted.parts)
        refitted.cell_hessians[part.cell] += part.hessian;
    refitted.cell_hessians[0] = std::numeric_limits<double>::infinity();
}

/// The distinct rows in a set of rows, of bits; none if it distinguishes equal ones.
std::optional<BitSet> distinct_rows(const Extents& extents, const std::uint8_t* bytes) {
    const std::size_t n_rows = extents.n_rows(), n_distinct_rows = extents.n_distinct_rows();
    std::vector<Word> covered(n_words(n_rows));
    for (std::size_t row = 0; row < n_rows; row += 8)
        covered[row / word_bits] |= Word{bytes[row / 8]} << (row % word_bits);
    if (n_distinct_rows == n_rows) return BitSet(std::move(covered));  // in the same order
    std::vector<Word> inside(n_words(n_distinct_rows)), outside(inside.size());
    for (std::size_t row = 0; row < n_rows; ++row)
        set_bit(has_bit(covered.data(), row) ? inside : outside, extents.distinct_row(row));
    for (std::size_t w = 0; w < inside.size(); ++w)
        if ((inside[w] & outside[w]) != 0) return std::nullopt;
    return BitSet(std::move(inside));
}

/// A set that distinguishes equal rows is not the extent of any query.
void add_excluded(Problem& problem, const ByteMatrix& excluded) {
    for (std::size_t k = 0; k < excluded.shape(0); ++k) {
        auto rows = distinct_rows(problem.extents, excluded.data() + k * excluded.shape(1));
        if (rows) problem.refitted.excluded.insert(*std::move(rows));
    }
}

}  // namespace

void add_refitted_terms(Problem& problem, const DoubleVector& hessians, const GivenTerms& given) {
    if (!given) return;
    const auto& [projections, cells, excluded] = *given;
    const std::size_t n_rows = problem.extents.n_rows();
    require_length(cells, "cells", n_rows);
    if (projections.shape(1) != n_rows || excluded.shape(1) != (n_rows + 7) / 8)
        throw nb::value_error("projections and excluded sets must have all rows.");
    const NoGil no_gil;
    add_projections(problem, projections);
    add_cells(problem, hessians, cells);
    add_excluded(problem, excluded);
}

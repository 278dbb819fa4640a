// Terms of an ensemble whose weights are refitted together with that of a new rule.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "librulesearch/problem/bits.hpp"

namespace rulesearch {

/// What these terms can imitate of a set S of rows if their weights are refitted: the squared norm
/// of a sum of vectors, one for each row. The part H - |sum|^2 is left for a new rule.
///
/// Rows that are covered by the same rules are one *cell*. Of a set, the terms imitate no more
/// than a free number for each cell would.
struct RefittedTerms {
    struct Part {
        std::uint32_t cell;
        double hessian;
    };

    std::size_t n_components = 0;
    std::size_t n_rows = 0;  // distinct ones
    /// One component after the other, by distinct row: the caller's array, or our own.
    const double* given_projections = nullptr;
    std::vector<double> own_projections;
    /// Every row is a cell of its own, all of which terms may imitate: there are no parts.
    bool has_single_rows = false;
    std::vector<Part> parts;                // of distinct rows: mostly one, their cell
    std::vector<std::uint32_t> first_part;  // by distinct row, and the end
    std::vector<double> cell_hessians;      // infinite for rows that no rule covers
    /// Sets that a rule covers already, or all but them: worth nothing.
    std::set<BitSet> excluded;

    bool empty() const { return n_components == 0; }

    /// A component of the vectors, by distinct row.
    const double* component(std::size_t k) const {
        const double* all =
            given_projections != nullptr ? given_projections : own_projections.data();
        return all + k * n_rows;
    }

    /// Hessians that are left of those of a set, given the sum of its vectors, `stride` numbers
    /// apart. What they imitate up to rounding errors counts as if a little was left.
    double left(double sum_hessians, const double* sums, std::size_t stride = 1) const {
        double imitated = 0.0;
        for (std::size_t k = 0; k < n_components; ++k)
            imitated += sums[k * stride] * sums[k * stride];
        return std::max(sum_hessians - imitated, least_left * sum_hessians);
    }

    static constexpr double least_left = 1e-9;

    /// What a set is worth is rounded to that many binary digits. Where terms imitate a part of
    /// it, many sets are worth the same but for rounding errors of the refit: a set and its
    /// complement, beside an intercept. They are to tie.
    static constexpr int value_digits = 30;
    static double rounded(double value) {
        int exponent = 0;
        const double digits = std::ldexp(std::frexp(value, &exponent), value_digits);
        return std::ldexp(std::nearbyint(digits), exponent - value_digits);
    }
    /// More than rounding changes a value by, relative to it.
    static constexpr double value_slack = 4e-9;
};

}  // namespace rulesearch

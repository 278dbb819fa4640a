#include "librulesearch/problem/discounted.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "librulesearch/problem/ratio_order.hpp"

namespace rulesearch {
namespace {

// Of a hessian: more than the rounding errors of the discount.
constexpr double discount_slack = 1e-14;
// A subset has the larger one of two amounts left, hence also any mean of them.
constexpr double share_of_least = 1e-3;

}  // namespace

DiscountedRows::DiscountedRows(const Problem& problem)
    : problem_(problem), in_set_(problem.refitted.cell_hessians.size()) {
    double total = 0.0;
    for (const Statistics& row : problem.rows) total += row.hessian;
    unit_ = std::ldexp(1.0, std::ilogb(std::max(total, 1e-290)) - 51);
}

std::span<const Statistics> DiscountedRows::of(const BitSet& set) {
    const RefittedTerms& refitted = problem_.refitted;
    const auto for_each_part = [&](std::size_t row, auto&& visit) {
        if (refitted.has_single_rows) return;
        for (std::size_t k = refitted.first_part[row]; k < refitted.first_part[row + 1]; ++k)
            visit(refitted.parts[k]);
    };
    set.for_each([&](std::size_t row) {
        for_each_part(row,
                      [&](const RefittedTerms::Part& part) { in_set_[part.cell] += part.hessian; });
    });
    const double share = problem_.l2_regularization > 0.0 ? 0.0 : share_of_least;
    rows_.clear();
    rows_.reserve(set.size());
    set.for_each([&](std::size_t row) {
        double left = 0.0;
        for_each_part(row, [&](const RefittedTerms::Part& part) {
            if (part.hessian == 0.0) return;
            const double rest = 1.0 - in_set_[part.cell] / refitted.cell_hessians[part.cell];
            left += part.hessian * std::max(rest - discount_slack, 0.0);
        });
        Statistics sums = problem_.rows[row];
        sums.hessian = left * (1.0 - share) + sums.hessian * RefittedTerms::least_left * share;
        sums.hessian = std::floor(sums.hessian / unit_) * unit_;
        rows_.push_back(sums);
    });
    set.for_each([&](std::size_t row) {
        for_each_part(row, [&](const RefittedTerms::Part& part) { in_set_[part.cell] = 0.0; });
    });
    return rows_;
}

Problem discounted(const Problem& problem, const BitSet& set) {
    Problem result{problem.extents, {}, problem.l2_regularization};
    result.sign = problem.sign;
    DiscountedRows rows(problem);
    const std::span<const Statistics> found = rows.of(set);
    if (found.size() == problem.rows.size()) {
        result.rows = rows.take();
        return result;
    }
    result.rows = problem.rows;
    auto next = found.begin();
    set.for_each([&](std::size_t row) { result.rows[row] = *next++; });
    return result;
}

double bound_within(const Problem& problem, const BitSet& set) {
    RatioOrder rows;
    if (!problem.refitted.empty()) {
        const Problem at_a_discount = discounted(problem, set);
        rows.assign(at_a_discount, set);
        return rows.bound(at_a_discount) * (1.0 + RefittedTerms::value_slack);
    }
    rows.assign(problem, set);
    return rows.bound(problem);
}

}  // namespace rulesearch

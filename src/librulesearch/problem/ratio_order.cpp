#include "librulesearch/problem/ratio_order.hpp"

#include <algorithm>
#include <cmath>

namespace rulesearch {

void RatioOrder::assign(const Problem& problem, const BitSet& extent) {
    struct Ranked {
        double ratio;
        std::uint32_t row;
    };
    std::vector<Ranked> ranked[2];
    neutral.clear();
    extent.for_each([&](std::size_t row) {
        const Statistics& sums = problem.rows[row];
        const auto index = static_cast<std::uint32_t>(row);
        if (sums.gradient == 0.0) {
            neutral.push_back(index);
            return;
        }
        ranked[sums.gradient < 0.0].push_back(
            {ratio(std::abs(sums.gradient), sums.hessian), index});
    });
    for (std::vector<Ranked>& part : ranked) {
        const auto is_before = [](const Ranked& a, const Ranked& b) { return a.ratio > b.ratio; };
        // All ratios are infinite where refitted terms leave no hessians.
        if (!std::is_sorted(part.begin(), part.end(), is_before))
            std::sort(part.begin(), part.end(), is_before);
    }
    const auto copy_rows = [](const std::vector<Ranked>& part, std::vector<std::uint32_t>& rows) {
        rows.clear();
        for (const Ranked& entry : part) rows.push_back(entry.row);
    };
    copy_rows(ranked[0], positive);
    copy_rows(ranked[1], negative);
}

double RatioOrder::bound(const Problem& problem) const {
    double bound = 0.0;
    for (const auto* rows : {&positive, &negative}) {
        if (!problem.allows(rows == &positive ? 1.0 : -1.0)) continue;
        RunningBound running(problem.l2_regularization);
        for (const std::uint32_t row : *rows) running.add(problem.rows[row]);
        bound = std::max(bound, running.bound());
    }
    return bound;
}

}  // namespace rulesearch

#include "librulesearch/sorted_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rulesearch {

void SortedRows::assign(const Problem& problem, const BitSet& extent) {
    positive.clear();
    negative.clear();
    neutral.clear();
    extent.for_each([&](std::size_t row) {
        const double gradient = problem.rows[row].gradient;
        auto& part = gradient > 0.0 ? positive : gradient < 0.0 ? negative : neutral;
        part.push_back(static_cast<std::uint32_t>(row));
    });
    const auto ratio = [&](std::uint32_t row) {
        const Statistics& sums = problem.rows[row];
        return sums.hessian > 0.0 ? std::abs(sums.gradient) / sums.hessian
                                  : std::numeric_limits<double>::infinity();
    };
    const auto descending = [&](std::uint32_t a, std::uint32_t b) { return ratio(a) > ratio(b); };
    std::sort(positive.begin(), positive.end(), descending);
    std::sort(negative.begin(), negative.end(), descending);
}

double SortedRows::bound(const Problem& problem) const {
    double bound = 0.0;
    for (const auto* rows : {&positive, &negative}) {
        RunningBound running(problem.l2_regularization);
        for (const std::uint32_t row : *rows) running.add(problem.rows[row]);
        bound = std::max(bound, running.bound());
    }
    return bound;
}

double bound_of_all_rows(const Problem& problem) {
    SortedRows rows;
    rows.assign(problem, BitSet(problem.propositions.n_distinct_rows(), true));
    return rows.bound(problem);
}

}  // namespace rulesearch

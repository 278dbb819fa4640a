#include "librulesearch/ranges/signed_rows.hpp"

#include <algorithm>
#include <numeric>

namespace rulesearch::ranges {

SignedRows::SignedRows(const Problem& problem, const Chains& chains, bool is_negative)
    : n_chains_(chains.n_chains()) {
    const std::size_t n_rows = chains.n_rows();
    std::vector<double> ratios(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) {
        const Statistics& sums = problem.rows[row];
        ratios[row] = ratio(is_negative ? -sums.gradient : sums.gradient, sums.hessian);
    }
    std::vector<std::uint32_t> rows(n_rows);
    std::iota(rows.begin(), rows.end(), 0U);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return ratios[a] > ratios[b]; });
    for (const std::uint32_t row : rows) {
        Statistics sums = problem.rows[row];
        if (is_negative) sums.gradient = -sums.gradient;
        sum_gains_ += std::max(0.0, sums.gradient);
        statistics_.push_back(sums);
        levels_.insert(levels_.end(), chains.levels(row), chains.levels(row) + n_chains_);
    }
    steepest_slope_ = n_rows == 0 ? 0.0 : std::max(0.0, ratios[rows.front()]);
    if (problem.l2_regularization > 0.0)
        steepest_slope_ = std::min(steepest_slope_, sum_gains_ / problem.l2_regularization);
    std::vector<std::uint32_t> starts;
    order_.resize(n_chains_ * n_rows);
    ascending_levels_.reserve(n_chains_ * n_rows);
    for (std::size_t chain = 0; chain < n_chains_; ++chain) {
        starts.assign(chains.top(chain) + 2, 0);
        for (std::size_t row = 0; row < n_rows; ++row) ++starts[levels(row)[chain] + 1];
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        for (std::uint32_t row = 0; row < n_rows; ++row)
            order_[chain * n_rows + starts[levels(row)[chain]]++] = row;
        for (std::size_t k = 0; k < n_rows; ++k)
            ascending_levels_.push_back(levels(order(chain)[k])[chain]);
    }
}

}  // namespace rulesearch::ranges

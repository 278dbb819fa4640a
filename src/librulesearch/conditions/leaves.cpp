#include "librulesearch/conditions/leaves.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace rulesearch::conditions {

void Leaves::solve(const std::vector<std::uint32_t>& query, std::span<const std::uint32_t> columns,
                   const KeyedRows& rows, std::span<const std::uint32_t> keys,
                   const Pruning& can_prune, std::vector<Offer>& offers) {
    sum(rows, keys, columns.size());
    const std::size_t size = std::size_t{1} << columns.size();
    found_.resize(std::max(found_.size(), size));
    const std::size_t n_found =
        kernels_.find_above(gradients_.data(), hessians_.data(), size, problem_.l2_regularization,
                            can_prune.floor(), found_.data());
    const std::size_t max_conditions = limits_.max_conditions - query.size();
    std::vector<std::pair<double, std::uint32_t>> best;
    double best_value = 0.0;
    for (std::size_t k = 0; k < n_found; ++k) {
        const std::uint32_t refinement = found_[k];
        if (refinement == 0 || static_cast<std::size_t>(std::popcount(refinement)) > max_conditions)
            continue;
        if (limits_.min_coverage > 0.0 && coverages_[refinement] < limits_.min_coverage) continue;
        const double value = problem_.value(gradients_[refinement], hessians_[refinement]);
        if (value < best_value || value == 0.0 || !can_prune.is_competitive(value)) continue;
        best.push_back({value, refinement});
        if (can_prune.wants_several()) continue;
        if (value > best_value) best.erase(best.begin(), best.end() - 1);
        best_value = value;
    }
    for (const auto& [value, refinement] : best) {
        if (!is_minimal(refinement, keys)) continue;
        offers.push_back({value, query});
        for_each_bit(refinement, 0,
                     [&](std::size_t j) { offers.back().query.push_back(columns[j]); });
    }
}

/// Sets: the sums over the rows of all refinements.
void Leaves::sum(const KeyedRows& rows, std::span<const std::uint32_t> keys,
                 std::size_t n_columns) {
    const std::size_t size = std::size_t{1} << n_columns;
    const auto clear = [&](std::vector<double>& values) {
        values.resize(std::max(values.size(), size));
        std::fill_n(values.begin(), size, 0.0);
    };
    clear(gradients_);
    clear(hessians_);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        gradients_[keys[i]] += rows.gradient(i);
        hessians_[keys[i]] += rows.hessian(i);
    }
    kernels_.sum_supersets(gradients_.data(), n_columns);
    kernels_.sum_supersets(hessians_.data(), n_columns);
    if (limits_.min_coverage == 0.0) return;
    clear(coverages_);
    for (std::size_t i = 0; i < keys.size(); ++i) coverages_[keys[i]] += rows.coverage(i);
    kernels_.sum_supersets(coverages_.data(), n_columns);
}

/// Whether each column takes rows away: else a shorter refinement has the
/// same rows.
bool Leaves::is_minimal(std::uint32_t refinement, std::span<const std::uint32_t> keys) const {
    if (std::has_single_bit(refinement)) return true;
    for (std::uint32_t rest = refinement; rest != 0; rest &= rest - 1) {
        const std::uint32_t shorter = refinement & ~(rest & -rest);
        const auto is_taken_away = [&](std::uint32_t key) {
            return (key & shorter) == shorter && (key & refinement) != refinement;
        };
        if (std::none_of(keys.begin(), keys.end(), is_taken_away)) return false;
    }
    return true;
}

}  // namespace rulesearch::conditions

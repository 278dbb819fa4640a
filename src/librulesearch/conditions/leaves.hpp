// All refinements of a query by a few columns, in one go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "librulesearch/conditions/node.hpp"
#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/kernels/keyed_rows.hpp"

namespace rulesearch::conditions {

/// Evaluates all 2^k refinements of a query by k columns through superset sums. Where few columns
/// are left, that costs less than a try to prune them.
class Leaves {
  public:
    // More columns cost more than they save.
    static constexpr std::size_t max_columns = 9;

    Leaves(const Problem& problem, const Limits& limits, const Kernels& kernels)
        : problem_(problem), limits_(limits), kernels_(kernels) {}

    /// Appends the best proper refinements of `query` by `columns`, if they are as good as the
    /// incumbent. `keys`: by row, bit j if it lies in column j; rows in no column need not be
    /// there.
    void solve(const std::vector<std::uint32_t>& query, std::span<const std::uint32_t> columns,
               const KeyedRows& rows, std::span<const std::uint32_t> keys, const Pruning& can_prune,
               std::vector<Offer>& offers);

  private:
    void sum(const KeyedRows& rows, std::span<const std::uint32_t> keys, std::size_t n_columns);
    bool is_minimal(std::uint32_t refinement, std::span<const std::uint32_t> keys) const;

    const Problem& problem_;
    const Limits& limits_;
    const Kernels& kernels_;
    std::vector<double> gradients_, hessians_, coverages_;  // by refinement
    std::vector<std::uint32_t> found_;
};

}  // namespace rulesearch::conditions

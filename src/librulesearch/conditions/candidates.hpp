// The rows of a node and the columns that its query may be augmented by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "librulesearch/conditions/node.hpp"
#include "librulesearch/conditions/row_classes.hpp"
#include "librulesearch/conditions/row_orders.hpp"
#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/kernels/keyed_rows.hpp"

namespace rulesearch::conditions {

/// Candidates of one node after the other; keeps its buffers. A *position* is a bit of the rows'
/// keys. To be called in turn: `take`, `select` and `bound`.
class Candidates {
  public:
    Candidates(const Problem& problem, const Limits& limits, const Kernels& kernels)
        : problem_(problem), kernels_(kernels), has_coverages_(limits.min_coverage > 0.0) {}

    /// Sets: the rows of the node's query, and their columns; at a discount under the joint
    /// objective.
    void take(const Node& node);
    /// Sets: the candidates that are not pruned by what is already known; rows in all of them are
    /// *forced*, and rows in none of them go. Returns false if there is no candidate.
    bool select(const Node& node, const Pruning& can_prune, Expansion& out);
    /// Sets: sums over the rows of the query augmented by each candidate, and the bounding theorem
    /// applied to them. Bounds below the floor are not computed exactly.
    void bound(double floor);

    std::size_t size() const { return size_; }
    /// A bit for each candidate, by position.
    const std::vector<Word>& positions() const { return positions_; }
    template <typename Visitor>
    void for_each(Visitor&& visit) const {
        for (std::size_t p = 0; p < positions_.size(); ++p)
            for_each_bit(positions_[p], p * word_bits, visit);
    }
    std::uint32_t column(std::size_t position) const { return columns_[position]; }
    Statistics sums(std::size_t position) const {
        return {gradients_[position], hessians_[position],
                has_coverages_ ? coverages_[position] : 0.0};
    }
    /// The smaller one of the bound and what the parent knew.
    double bound_at(std::size_t position) const {
        return std::min(bounds_[position], known_bounds_[position]);
    }

    /// Neither forced nor in no candidate.
    KeyedRows& rows() { return rows_; }
    /// As many rows in another order; what comes after bounding may use them and the orders.
    KeyedRows& other_rows() { return other_; }
    RowOrders& orders() { return orders_; }
    bool has_forced() const { return has_forced_; }
    const Statistics& forced() const { return forced_; }

  private:
    void take_from_table(const Node& node, const BitSet& extent, const Problem& problem);
    void remove_constant_rows();

    const Problem& problem_;
    const Kernels& kernels_;
    const bool has_coverages_;
    KeyedRows rows_, other_;
    Statistics forced_;
    bool has_forced_ = false;
    std::vector<std::uint32_t> columns_;  // by position
    std::vector<double> known_bounds_;    // by position
    std::vector<Word> positions_;
    std::size_t size_ = 0;
    RowClasses classes_;
    RowOrders orders_;
    std::vector<double> gradients_, hessians_, coverages_, bounds_;  // by position
    std::vector<std::uint32_t> selected_;
};

}  // namespace rulesearch::conditions

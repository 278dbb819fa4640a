// Upper bounds of what the boxes of a node are worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "librulesearch/ranges/node_rows.hpp"
#include "librulesearch/ranges/offsets.hpp"
#include "librulesearch/ranges/prefix_peak.hpp"
#include "librulesearch/ranges/split_bound.hpp"

namespace rulesearch::ranges {

/// Bounds by prices. With t = G / (lambda + H), its *slope*, a set is worth
/// t (2G - t (lambda + H)), and less at any other t. So at the slopes of a node each row has a
/// price 2g - t h, and a bound on the sum of prices at every slope bounds the value.
///
/// Costing rows have no positive price, and are set off against gaining ones:
/// - A costing row may be set off against a gaining one that implies it. Counting a share of the
///   costing row only if the gaining one is covered leaves out negative prices, nothing else.
/// - A costing row is *blocked* by gaining rows if on each chain where it can be cut off, one of
///   them goes with it. Then either the costing row is covered or one of these is not, and as much
///   of them as the costing row costs is lost. At the lowest slope all have the same price; above,
///   a gaining row keeps the more of it the larger its g/h is, so the smallest of them is what is
///   lost.
///
/// What remains are independent items.
class Bound {
  public:
    Bound(const NodeRows& rows, double l2_regularization)
        : rows_(rows),
          l2_regularization_(l2_regularization),
          offsets_(rows),
          other_offsets_(rows),
          parts_(rows, offsets_, l2_regularization) {}

    Bound(const Bound&) = delete;  // bounds of parts refer to the offsets
    Bound& operator=(const Bound&) = delete;

    /// Bound by implied rows. Sets: items, the node's main slope.
    Peak of_node(Node& node);
    /// Items of the node, in descending order of g/h.
    std::span<const Item> items() const { return items_; }
    /// Bound by implied and blocked rows. To be called right after `of_node`.
    double of_blocked_node(const Node& node);
    /// Narrows the node's slopes to those at which its bound is above a value. False if there are
    /// none. To be called after `of_blocked_node`.
    bool slopes_above(double value, Node& node) const;

    /// What boxes of the node are worth less than its bound, that by blocked rows or that by
    /// implied rows, for each gaining row they leave out and each costing row they cover, whatever
    /// their slope. To be called after `of_blocked_node`.
    void min_losses(const Node& node, bool is_blocked, std::vector<double>& gaining_losses,
                    std::vector<double>& costing_losses) const;

    /// Bounds by implied rows of parts of the node: cuts at the level or above, cuts below, slopes.
    double at_or_above(const Node& node, std::size_t chain, Level level) {
        return with_rounding(parts_.at_or_above(node, items_, chain, level)).bound;
    }
    double below(const Node& node, std::size_t chain, Level level) {
        return with_rounding(parts_.below(node, items_, chain, level)).bound;
    }
    double between(double low_slope, double high_slope);

  private:
    void collect_items(const Balance& balance, double low_slope, std::vector<Item>& items) const;
    Peak scan(std::span<const Item> items, double low_slope, double high_slope) const;
    Peak with_rounding(Peak peak) const;
    void find_blockers();
    std::uint32_t freest_candidate() const;
    bool find_group(std::size_t costing, std::size_t max_size);
    void block_all();
    void block(std::size_t costing, std::size_t max_size);

    const NodeRows& rows_;
    double l2_regularization_;
    double sum_magnitudes_ = 0.0, sum_hessians_ = 0.0;  // of the optional rows
    double items_slope_ = 0.0;  // lowest slope for which the node's items were made
    double main_slope_ = 0.0;   // at which most was set off
    Offsets offsets_, other_offsets_;
    SplitBound parts_;
    std::vector<Item> items_, blocked_items_, other_items_;
    // For blocking, by item at the lowest slope: its price, what no group has used of it, and
    // what is not lost.
    std::vector<double> all_, free_, kept_;
    std::vector<double> costs_, left_;    // by costing row: what it costs, what is not blocked
    std::vector<std::uint32_t> item_of_;  // by gaining row
    std::size_t item_stride_ = 0;
    std::vector<Word> unused_, candidates_, next_;  // items
    std::vector<Word> suffixes_;                    // sets of the items of the highest levels
    std::vector<std::size_t> blockers_;  // by chain and costing row: where its set begins
    std::vector<std::uint32_t> group_;
};

}  // namespace rulesearch::ranges

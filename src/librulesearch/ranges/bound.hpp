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
/// 2 t G - t^2 (lambda + H), and less at any other t. So at the slopes of a node each row has a
/// price 2 t g - t^2 h, and a bound on the sum of prices at every slope bounds the value.
///
/// Bad rows have no positive price, and are set off against good ones:
/// - A bad row that a good one implies is paid for by it. Counting a share of the bad row only if
///   the good one is covered leaves out negative prices, nothing else.
/// - A bad row is *blocked* by good rows if on each side where it can be cut off, one of them goes
///   with it. Then either the bad row is covered or one of these is not, and as much of them as the
///   bad row costs is lost. At the least slope all have the same price; above, a good row keeps the
///   more of it the larger its g/h is, so the least of them is what is lost.
///
/// What remains are independent items.
class Bound {
  public:
    Bound(const NodeRows& rows, double l2_regularization)
        : rows_(rows),
          l2_regularization_(l2_regularization),
          payments_(rows),
          other_payments_(rows),
          parts_(rows, payments_, l2_regularization) {}

    Bound(const Bound&) = delete;  // bounds of parts refer to the payments
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
    /// implied rows, for each good row they leave out and each bad row they cover, whatever their
    /// slope. To be called after `of_blocked_node`.
    void least_losses(const Node& node, bool is_blocked, std::vector<double>& good_losses,
                      std::vector<double>& bad_losses) const;

    /// Bounds by implied rows of parts of the node: cuts at the level or above, cuts below, slopes.
    double at_or_above(const Node& node, std::size_t side, Level level) {
        return with_rounding(parts_.at_or_above(node, items_, side, level)).bound;
    }
    double below(const Node& node, std::size_t side, Level level) {
        return with_rounding(parts_.below(node, items_, side, level)).bound;
    }
    double between(double low_slope, double high_slope);

  private:
    void collect_items(const Balance& balance, double low_slope, std::vector<Item>& items) const;
    Peak scan(std::span<const Item> items, double low_slope, double high_slope) const;
    Peak with_rounding(Peak peak) const;
    void find_blockers();
    std::uint32_t freest_candidate() const;
    bool find_group(std::size_t bad, std::size_t most);
    void block_all();
    void block(std::size_t bad, std::size_t most);

    const NodeRows& rows_;
    double l2_regularization_;
    double sum_magnitudes_ = 0.0, sum_hessians_ = 0.0;  // of the optional rows
    double items_slope_ = 0.0;  // least slope for which the node's items were made
    double main_slope_ = 0.0;   // at which most was paid
    Payments payments_, other_payments_;
    SplitBound parts_;
    std::vector<Item> items_, blocked_items_, other_items_;
    // For blocking, by item at the least slope: what it is worth, what no group has used of it, and
    // what is not lost.
    std::vector<double> all_, free_, kept_;
    std::vector<double> costs_, left_;  // by bad row: what it costs, and what is not blocked of it
    std::vector<std::uint32_t> item_of_;  // by good row
    std::size_t item_stride_ = 0;
    std::vector<Word> unused_, candidates_, next_;  // items
    std::vector<Word> suffixes_;                    // sets of the items of the highest levels
    std::vector<std::size_t> blockers_;             // by side and bad row: where its set begins
    std::vector<std::uint32_t> group_;
};

}  // namespace rulesearch::ranges

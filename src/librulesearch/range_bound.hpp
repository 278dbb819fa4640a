// Upper bounds of what the boxes of a node are worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "librulesearch/node_rows.hpp"

namespace rulesearch {

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
/// What remains are independent items. At each slope the best of them are those of large g/h, so
/// the bound is that of some number of the first of them.
class RangeBound {
  public:
    struct Item {
        double gradient, hessian, ratio;
        std::uint32_t good;  // number of the row it comes from
    };
    struct Peak {
        double bound = 0.0;
        double slope = 0.0;       // where it is reached
        std::size_t n_items = 0;  // by how many of the first items
    };

    RangeBound(const NodeRows& rows, double l2_regularization)
        : rows_(rows), l2_regularization_(l2_regularization) {}

    /// Bound by implied rows. Sets: items, the node's main slope.
    Peak of_node(RangeNode& node);
    /// Items of the node, in descending order of g/h.
    std::span<const Item> items() const { return items_; }
    /// Bound by implied and blocked rows. To be called right after `of_node`.
    Peak of_blocked_node(const RangeNode& node);
    /// Narrows the node's slopes to those at which its bound is above a value. False if there are
    /// none. To be called after `of_blocked_node`.
    bool slopes_above(double value, RangeNode& node) const;

    /// Bounds by implied rows of parts of the node: cuts at the level or above, cuts below, slopes.
    /// The side of a level must be chosen in the rows.
    double at_or_above(const RangeNode& node, std::size_t side, Level level);
    double below(const RangeNode& node, std::size_t side, Level level);
    double between(double low_slope, double high_slope);

  private:
    template <typename Implied>
    void pay(double slope, Implied&& implied, std::vector<Item>& items);
    template <typename IsAlive, typename Implied>
    void absorb(double low_slope, IsAlive&& is_alive, Implied&& implied, std::vector<Item>& items);
    void reset_bad_rows();
    Peak scan(const Statistics& base, std::span<const Item> items, double low_slope,
              double high_slope) const;
    void find_blockers(const RangeNode& node);
    bool find_group(std::size_t bad, const RangeNode& node);
    void block(std::size_t bad, double price, const RangeNode& node);

    const NodeRows& rows_;
    double l2_regularization_;
    double sum_magnitudes_ = 0.0, sum_hessians_ = 0.0;  // of the optional rows
    double items_slope_ = 0.0;  // least slope for which the node's items were made
    double main_slope_ = 0.0;   // at which most is paid
    std::vector<Item> items_, blocked_items_, part_items_;
    std::vector<std::uint32_t> by_n_implied_;  // good rows
    std::vector<std::uint32_t> starts_;
    // What is left of the bad rows, and which of them have something left.
    std::vector<double> left_gradients_, left_hessians_;
    std::vector<Word> open_;
    // For blocking, by good row: its item, its price that no group has used, and all that is left.
    std::vector<std::uint32_t> item_of_;
    std::vector<double> free_, kept_;
    std::vector<Word> unused_, candidates_, next_;
    std::size_t good_stride_ = 0;
    std::vector<Word> suffixes_;         // by side and number: good rows of the highest levels
    std::vector<const Word*> blockers_;  // by side and bad row: those that reach its level
    std::vector<std::uint32_t> group_;
};

}  // namespace rulesearch

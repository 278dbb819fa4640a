// Upper bounds of what the boxes in parts of a node are worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "librulesearch/ranges/node_rows.hpp"
#include "librulesearch/ranges/offsets.hpp"
#include "librulesearch/ranges/prefix_peak.hpp"

namespace rulesearch::ranges {

/// Bounds by implied rows of the parts that a level on one chain makes of a node. They start from
/// the offsets of the node, which hold for its parts too, and change what the level changes.
class SplitBound {
  public:
    SplitBound(const NodeRows& rows, const Offsets& offsets, double l2_regularization)
        : rows_(rows), offsets_(offsets), l2_regularization_(l2_regularization) {}

    /// Boxes cut at the level or above. `items` are those of the node.
    Peak at_or_above(const Node& node, std::span<const Item> items, std::size_t chain, Level level);
    /// Boxes cut below the level.
    Peak below(const Node& node, std::span<const Item> items, std::size_t chain, Level level);

  private:
    void start();
    void change(std::size_t gaining);
    template <typename IsAlive>
    Peak scan(const Statistics& base, const Node& node, std::span<const Item> items,
              IsAlive&& is_alive);

    const NodeRows& rows_;
    const Offsets& offsets_;
    double l2_regularization_;
    Balance balance_;
    std::vector<std::uint8_t> is_changed_;  // by gaining row
    std::vector<std::uint32_t> changed_;
    std::vector<Item> changed_items_;
    std::vector<Word> window_;          // costing rows that may be set off
    std::vector<std::uint32_t> words_;  // the words of it that are not empty
};

}  // namespace rulesearch::ranges

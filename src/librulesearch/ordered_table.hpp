// The columns in the order in which a search takes them.
#pragma once

#include <cstddef>
#include <vector>

#include "librulesearch/bits.hpp"
#include "librulesearch/propositions.hpp"

namespace rulesearch {

/// Columns renumbered by their position in a search order, with the rows' signatures in it.
class OrderedTable {
  public:
    /// `order[position]` is the column at that position. O(rows * columns).
    OrderedTable(const Propositions& propositions, std::vector<std::size_t> order)
        : propositions_(propositions),
          order_(std::move(order)),
          stride_(n_words(order_.size())),
          signatures_(propositions.n_distinct_rows() * stride_, 0) {
        for (std::size_t position = 0; position < order_.size(); ++position) {
            const Word bit = Word{1} << (position % word_bits);
            extent(position).for_each(
                [&](std::size_t row) { signatures_[row * stride_ + position / word_bits] |= bit; });
        }
    }

    std::size_t n_columns() const { return order_.size(); }
    std::size_t n_rows() const { return propositions_.n_distinct_rows(); }
    /// Words in a signature.
    std::size_t stride() const { return stride_; }
    std::size_t column(std::size_t position) const { return order_[position]; }
    const BitSet& extent(std::size_t position) const {
        return propositions_.column(order_[position]);
    }
    /// Positions whose columns contain the row.
    const Word* signature(std::size_t row) const { return signatures_.data() + row * stride_; }

  private:
    const Propositions& propositions_;
    std::vector<std::size_t> order_;
    std::size_t stride_;
    std::vector<Word> signatures_;
};

}  // namespace rulesearch

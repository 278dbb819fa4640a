// The rows of a node of the search over ranges, and which of them come together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "librulesearch/problem/bits.hpp"
#include "librulesearch/ranges/node.hpp"
#include "librulesearch/ranges/signed_rows.hpp"

namespace rulesearch::ranges {

/// Rows within the loosest cuts of a node are *live*. Of these, rows within the tightest cuts are
/// *mandatory*: every box of the node covers them. The others are *optional*; they are *good* if
/// some wanted box gains by them and *bad* if none does, as told by g/h and the least slope.
///
/// A good row *implies* a bad one if on every side the bad one's level is no higher than the good
/// one's or the tightest cut: a box that covers the first covers the second.
class NodeRows {
  public:
    NodeRows(const Sides& sides) : sides_(sides) {}

    /// Closes the node's ranges and sorts its rows. False if there is no wanted box in it.
    /// O(sides * (rows + good * bad / 64)).
    bool assign(const SignedRows& rows, const Goal& goal, Node& node);

    /// Tightest cut on a side.
    Level tight(std::size_t side) const { return tight_[side]; }
    const Statistics& mandatory() const { return mandatory_; }
    std::size_t n_good() const { return n_good_; }
    std::size_t n_bad() const { return n_bad_; }
    std::size_t n_optional() const { return n_good_ + n_bad_; }
    /// Optional rows are numbered, the good ones first.
    const Statistics& statistics(std::size_t i) const { return statistics_[i]; }
    /// Level on an open side.
    Level level(std::size_t i, std::size_t side) const { return levels_[side * n_optional() + i]; }
    /// Optional rows by ascending level on a side.
    std::span<const std::uint32_t> order(std::size_t side) const {
        return {order_.data() + side * n_optional(), n_optional()};
    }
    /// Sides on which not all live rows are within the tightest cut.
    std::span<const std::uint32_t> open_sides() const { return open_sides_; }

    /// Number of sides on which an optional row is beyond the tightest cut.
    std::size_t n_outside(std::size_t i) const { return n_outside_[i]; }

    /// Bad rows implied by a good one, and those that are but for one side, in `stride()` words.
    const Word* implied(std::size_t i) const { return implied_.data() + i * stride_; }
    const Word* nearly_implied(std::size_t i) const { return nearly_.data() + i * stride_; }
    std::size_t n_implied(std::size_t i) const { return n_implied_[i]; }
    std::size_t stride() const { return stride_; }
    /// All bad rows.
    const std::vector<Word>& bad_rows() const { return all_; }

    /// Statistics of the rows within the given cuts, which are inside the node's ranges.
    Statistics sum(const SignedRows& rows, const std::vector<Level>& cuts) const;

  private:
    bool close(const SignedRows& rows, const Goal& goal, Node& node);
    void find_live(const SignedRows& rows, const Node& node);
    void sort_rows(const SignedRows& rows, const Node& node);
    void find_implied();

    const Sides& sides_;
    std::vector<std::uint32_t> live_;  // once they are sorted, only the optional ones
    std::vector<Level> tight_;         // by side
    Statistics mandatory_;
    std::size_t n_good_ = 0, n_bad_ = 0;
    std::vector<Statistics> statistics_;
    std::vector<Level> levels_;            // by open side and optional row
    std::vector<std::uint32_t> order_;     // by side
    std::vector<std::int32_t> number_;     // by row: its number, or -1
    std::vector<std::uint32_t> bad_rows_;  // while they are sorted
    std::vector<std::uint32_t> cut_sides_, open_sides_;
    std::vector<std::uint32_t> n_outside_;
    std::size_t stride_ = 0;
    std::vector<Word> implied_, nearly_;
    std::vector<std::uint32_t> n_implied_;
    std::vector<Level> highest_, lowest_;  // by side
    std::vector<Word> all_;                // bad rows
    std::vector<Word> up_to_;              // bad rows up to a level
    std::vector<std::uint8_t> is_alone_;   // good rows that imply nothing, nearly or not
};

}  // namespace rulesearch::ranges

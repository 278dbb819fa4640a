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
/// *forced*: every box of the node covers them. The others are *optional*; they are *gaining* if
/// some wanted box gains by them and *costing* if none does, as told by g/h and the lowest slope.
///
/// A gaining row *implies* a costing one if on every chain the costing one's level is no higher
/// than the gaining one's or the tightest cut: a box that covers the first covers the second.
class NodeRows {
  public:
    NodeRows(const Chains& chains) : chains_(chains) {}

    /// Closes the node's ranges and sorts its rows. False if there is no wanted box in it.
    /// O(chains * (rows + gaining * costing / 64)).
    bool assign(const SignedRows& rows, const Goal& goal, Node& node);

    /// Tightest cut on a chain.
    Level tight(std::size_t chain) const { return tight_[chain]; }
    const Statistics& forced() const { return forced_; }
    std::size_t n_gaining() const { return n_gaining_; }
    std::size_t n_costing() const { return n_costing_; }
    std::size_t n_optional() const { return n_gaining_ + n_costing_; }
    /// Optional rows are numbered, the gaining ones first.
    const Statistics& statistics(std::size_t i) const { return statistics_[i]; }
    /// Level on an open chain.
    Level level(std::size_t i, std::size_t chain) const {
        return levels_[chain * n_optional() + i];
    }
    /// Optional rows by ascending level on a chain.
    std::span<const std::uint32_t> order(std::size_t chain) const {
        return {order_.data() + chain * n_optional(), n_optional()};
    }
    /// Chains on which not all live rows are within the tightest cut.
    std::span<const std::uint32_t> open_chains() const { return open_chains_; }

    /// Number of chains on which an optional row is beyond the tightest cut.
    std::size_t n_outside(std::size_t i) const { return n_outside_[i]; }

    /// Costing rows implied by a gaining one, and those that are but for one chain, in `stride()`
    /// words.
    const Word* implied(std::size_t i) const { return implied_.data() + i * stride_; }
    const Word* nearly_implied(std::size_t i) const { return nearly_.data() + i * stride_; }
    std::size_t n_implied(std::size_t i) const { return n_implied_[i]; }
    std::size_t stride() const { return stride_; }
    /// All costing rows.
    const std::vector<Word>& costing_rows() const { return all_; }

    /// Statistics of the rows within the given cuts, which are inside the node's ranges.
    Statistics sum(const SignedRows& rows, const std::vector<Level>& cuts) const;

  private:
    bool close(const SignedRows& rows, const Goal& goal, Node& node);
    void find_live(const SignedRows& rows, const Node& node);
    void sort_rows(const SignedRows& rows, const Node& node);
    void find_implied();

    const Chains& chains_;
    std::vector<std::uint32_t> live_;  // once they are sorted, only the optional ones
    std::vector<Level> tight_;         // by chain
    Statistics forced_;
    std::size_t n_gaining_ = 0, n_costing_ = 0;
    std::vector<Statistics> statistics_;
    std::vector<Level> levels_;                // by open chain and optional row
    std::vector<std::uint32_t> order_;         // by chain
    std::vector<std::int32_t> number_;         // by row: its number, or -1
    std::vector<std::uint32_t> costing_rows_;  // while they are sorted
    std::vector<std::uint32_t> cut_chains_, open_chains_;
    std::vector<std::uint32_t> n_outside_;
    std::size_t stride_ = 0;
    std::vector<Word> implied_, nearly_;
    std::vector<std::uint32_t> n_implied_;
    std::vector<Level> highest_, lowest_;  // by chain
    std::vector<Word> all_;                // costing rows
    std::vector<Word> up_to_;              // costing rows up to a level
    std::vector<std::uint8_t> is_alone_;   // gaining rows that imply nothing, nearly or not
};

}  // namespace rulesearch::ranges

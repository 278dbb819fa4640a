// The candidate conditions of a table, as extents over its distinct rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "librulesearch/problem/bits.hpp"

namespace rulesearch {

/// Immutable view of a 0/1 table from two sides. Made by `ExtentsBuilder`.
///
/// No query distinguishes rows that agree on every condition, so they are kept once
/// (*distinct rows*, numbered by first appearance), unless hardly any rows of a long table do. Of
/// conditions with equal extents only the first is kept, and those that cover all rows or none are
/// left out: what remains are *columns*, in ascending order of their condition index. Everything
/// below the bindings uses distinct rows and columns; `condition_index` leads back.
class Extents {
  public:
    std::size_t n_candidates() const { return column_index_.size(); }
    std::size_t n_rows() const { return distinct_row_.size(); }
    std::size_t n_distinct_rows() const { return n_distinct_rows_; }
    std::size_t n_columns() const { return columns_.size(); }

    /// Distinct row of a row.
    std::size_t distinct_row(std::size_t row) const { return distinct_row_[row]; }
    /// Condition that a column stands for.
    std::size_t condition_index(std::size_t column) const { return condition_index_[column]; }
    /// Columns that conditions stand for, without those that are always true. Throws
    /// std::out_of_range for an unknown condition and for one that is never true.
    std::vector<std::size_t> columns_of(const std::vector<std::size_t>& query) const;
    /// Writes for each row, not distinct ones, whether it satisfies all of the given conditions.
    /// O(rows + distinct rows * query.size()). Throws std::out_of_range for an unknown condition.
    void covered(const std::vector<std::size_t>& query, bool* rows) const;
    /// Extent of a column, as a set of distinct rows.
    const BitSet& extent(std::size_t column) const { return columns_[column]; }
    /// Distinct rows in all of the given columns.
    template <typename Columns>
    BitSet extent_of(const Columns& columns) const {
        BitSet rows(n_distinct_rows_, true);
        for (const auto column : columns) rows &= columns_[column];
        return rows;
    }
    /// Columns that contain a distinct row, in `stride()` words.
    const Word* signature(std::size_t row) const { return signatures_.data() + row * stride(); }
    std::size_t stride() const { return n_words(n_columns()); }

    /// Columns are sorted into *chains* of nested extents, such as those of thresholds of one
    /// feature: of two columns in one chain, that of the lower level is contained in the other.
    struct Link {
        std::uint32_t chain;
        std::uint32_t level;
    };
    const Link& link(std::size_t column) const { return links_[column]; }
    std::size_t n_chains() const { return n_chains_; }

    /// The features that columns belong to: found when they are first needed, then kept.
    template <typename Features, typename Find>
    const Features& features(Find&& find) const {
        const std::lock_guard lock(found_->mutex);
        if (!found_->features) found_->features = std::make_shared<const Features>(find());
        return *static_cast<const Features*>(found_->features.get());
    }

  private:
    friend class ExtentsBuilder;

    static constexpr std::ptrdiff_t always = -1;
    static constexpr std::ptrdiff_t never = -2;

    struct Found {
        std::mutex mutex;
        std::shared_ptr<const void> features;
    };

    Extents() = default;

    std::size_t n_distinct_rows_ = 0;
    std::vector<std::uint32_t> distinct_row_;
    std::vector<std::size_t> condition_index_;
    std::vector<std::ptrdiff_t> column_index_;  // by condition: its column, `always` or `never`
    std::vector<BitSet> columns_;
    std::vector<Word> signatures_;
    std::vector<Link> links_;  // by column
    std::size_t n_chains_ = 0;
    std::shared_ptr<Found> found_ = std::make_shared<Found>();
};

/// Takes the extents of conditions one after the other and keeps a bit per row and column, so
/// that the whole table of truth values never has to exist.
class ExtentsBuilder {
  public:
    explicit ExtentsBuilder(std::size_t n_rows) { extents_.distinct_row_.resize(n_rows); }

    std::size_t n_rows() const { return extents_.distinct_row_.size(); }
    /// Adds the next condition, given a truth value per row; any byte but 0 is true. O(n_rows).
    void add(const std::uint8_t* covered);
    /// Finds the distinct rows. The builder is empty afterwards. O(n_rows * n_columns).
    Extents build();

  private:
    using Words = std::vector<Word>;

    void find_distinct_rows();
    void keep_all_rows();
    template <typename Visit>
    void for_each_signature(Visit&& visit) const;
    std::vector<BitSet> distinct_extents(std::size_t n_columns) const;
    void find_chains();

    Extents extents_;
    std::vector<Words> column_words_;  // by column, over all rows
    std::unordered_multimap<std::size_t, std::size_t> columns_by_hash_;
};

}  // namespace rulesearch

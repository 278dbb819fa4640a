// Chains of nested extents as coordinates: a query is a box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "librulesearch/problem/extents.hpp"

namespace rulesearch::ranges {

using Level = std::uint32_t;

/// The chains of a table's columns. A row has a *level* on each of them, that of the smallest
/// column which contains it, and a *cut* keeps the rows up to a level. The highest level, `top`,
/// stands for no column: cut there, a chain keeps every row.
///
/// Of two columns of one chain the larger adds nothing to a conjunction, so one cut per chain says
/// all that a query can say. There is a column, and a row, on every level below the top.
class Chains {
  public:
    /// O(columns * distinct rows / 64 + chains * distinct rows).
    explicit Chains(const Extents& extents);

    std::size_t n_chains() const { return columns_.size(); }
    std::size_t n_rows() const { return n_rows_; }
    Level top(std::size_t chain) const { return static_cast<Level>(columns_[chain].size()); }
    /// The column of a level below the top.
    std::size_t column(std::size_t chain, Level level) const { return columns_[chain][level]; }
    /// Levels of a row, one per chain.
    const Level* levels(std::size_t row) const { return levels_.data() + row * n_chains(); }

    /// The box of all rows.
    std::vector<Level> everything() const {
        std::vector<Level> cuts;
        for (std::size_t chain = 0; chain < n_chains(); ++chain) cuts.push_back(top(chain));
        return cuts;
    }
    /// Number of chains that are cut below the top.
    std::size_t n_cuts(const std::vector<Level>& cuts) const {
        std::size_t count = 0;
        for (std::size_t chain = 0; chain < n_chains(); ++chain) count += cuts[chain] < top(chain);
        return count;
    }
    /// The columns of a box.
    std::vector<std::size_t> query(const std::vector<Level>& cuts) const {
        std::vector<std::size_t> columns;
        for (std::size_t chain = 0; chain < n_chains(); ++chain)
            if (cuts[chain] < top(chain)) columns.push_back(column(chain, cuts[chain]));
        return columns;
    }

  private:
    std::size_t n_rows_;
    std::vector<std::vector<std::size_t>> columns_;  // by chain and level
    std::vector<Level> levels_;                      // by row and chain
};

}  // namespace rulesearch::ranges

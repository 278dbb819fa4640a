// The best query so far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "librulesearch/problem/problem.hpp"
#include "librulesearch/problem/shortening.hpp"

namespace rulesearch {

/// Keeps the best of all queries offered, by a total order that does not depend on when and in
/// which form they come: larger value, then fewer conditions, then lexicographically first. The
/// value is a function of the extent alone (sums are exact), so ties are compared with `==`.
class Incumbent {
  public:
    explicit Incumbent(const Extents& extents) : extents_(extents) {}

    double value() const { return value_; }
    /// Conditions of the best query, as far as it has been shortened.
    std::size_t n_conditions() const { return best_.columns.size(); }

    /// `columns`: the offered query, in any order. Its extent counts, not its wording.
    void offer(double value, std::vector<std::size_t> columns) {
        if (value < value_) return;
        std::sort(columns.begin(), columns.end());
        if (value > value_) {
            value_ = value;
            best_ = {std::move(columns)};
            tied_.clear();
            return;
        }
        if (tied_.empty()) tied_.insert(extents_.extent_of(best_.columns));
        if (!tied_.insert(extents_.extent_of(columns)).second) return;
        Entry challenger{std::move(columns)};
        shorten(best_);
        shorten(challenger);
        if (is_before(challenger.columns, best_.columns)) best_ = std::move(challenger);
    }

    /// The best query as proposition indices, ascending.
    std::vector<std::size_t> query() {
        shorten(best_);
        std::vector<std::size_t> query;
        for (const std::size_t column : best_.columns)
            query.push_back(extents_.proposition_index(column));
        return query;
    }

  private:
    struct Entry {
        std::vector<std::size_t> columns;
        bool is_shortened = false;
    };

    static bool is_before(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    }

    void shorten(Entry& entry) const {
        if (entry.is_shortened) return;
        std::vector<std::size_t> shorter =
            shorten_query(extents_, extents_.extent_of(entry.columns));
        if (is_before(shorter, entry.columns)) entry.columns = std::move(shorter);
        entry.is_shortened = true;
    }

    const Extents& extents_;
    double value_ = -1.0;
    Entry best_;
    std::set<BitSet> tied_;  // extents with the best value, once there are several
};

}  // namespace rulesearch

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
    /// `cutoff`: what a query has to exceed. `n_best`: how many to keep.
    explicit Incumbent(const Extents& extents, double cutoff = -1.0, std::size_t n_best = 1)
        : extents_(extents), cutoff_(cutoff), n_best_(n_best) {}

    /// Of the best query.
    double value() const { return value_; }
    /// Queries that are worth less are of no use.
    double wanted() const { return std::max(cutoff_, n_best_ > 1 ? least_kept() : value_); }
    bool is_below_cutoff() const { return value_ < cutoff_; }
    /// Conditions of the best query, as far as it has been shortened: of several that are wanted
    /// equally, longer ones are not. None where it takes more to be wanted than to be as good.
    std::size_t n_conditions() const { return wanted() == value_ ? best_.columns.size() : 0; }

    /// `columns`: the offered query, in any order. Its extent counts, not its wording.
    void offer(double value, std::vector<std::size_t> columns) {
        if (n_best_ > 1) keep(value, columns);
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

    /// The best query as condition indices, ascending.
    std::vector<std::size_t> query() { return conditions(best_); }

    /// The best queries with different extents above the cutoff, the best first, as `query`.
    std::vector<std::vector<std::size_t>> queries() {
        std::vector<std::vector<std::size_t>> queries;
        for (Kept& kept : kept_)
            if (kept.value > cutoff_) queries.push_back(conditions(kept.entry));
        return queries;
    }

  private:
    struct Entry {
        std::vector<std::size_t> columns;
        bool is_shortened = false;
    };
    struct Kept {
        double value;
        BitSet extent;
        Entry entry;
    };

    double least_kept() const { return kept_.size() < n_best_ ? 0.0 : kept_.back().value; }

    /// Takes a query to the best ones, each extent once; of equal values, the first ones stay.
    void keep(double value, const std::vector<std::size_t>& columns) {
        if (value <= std::max(least_kept(), 0.0) || value < cutoff_) return;
        BitSet extent = extents_.extent_of(columns);
        const auto is_same = [&](const Kept& kept) { return kept.extent == extent; };
        if (std::any_of(kept_.begin(), kept_.end(), is_same)) return;
        const auto place = std::find_if(kept_.begin(), kept_.end(),
                                        [&](const Kept& kept) { return kept.value < value; });
        kept_.insert(place, {value, std::move(extent), {columns}});
        if (kept_.size() > n_best_) kept_.pop_back();
    }

    static bool is_before(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    }

    std::vector<std::size_t> conditions(Entry& entry) const {
        shorten(entry);
        std::vector<std::size_t> query;
        for (const std::size_t column : entry.columns)
            query.push_back(extents_.condition_index(column));
        std::sort(query.begin(), query.end());
        return query;
    }

    void shorten(Entry& entry) const {
        if (entry.is_shortened) return;
        std::vector<std::size_t> shorter =
            shorten_query(extents_, extents_.extent_of(entry.columns));
        if (is_before(shorter, entry.columns)) entry.columns = std::move(shorter);
        entry.is_shortened = true;
    }

    const Extents& extents_;
    double cutoff_;
    std::size_t n_best_;
    double value_ = -1.0;
    Entry best_;
    std::set<BitSet> tied_;   // extents with the best value, once there are several
    std::vector<Kept> kept_;  // the best ones, if several are wanted
};

}  // namespace rulesearch

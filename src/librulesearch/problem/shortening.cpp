#include "librulesearch/problem/shortening.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace rulesearch {
namespace {

// Sets looked at in search of the shortest queries: some ten milliseconds. Queries of up to ten
// columns, more than people read, are found long before.
constexpr std::size_t work_limit = 5'000'000;
// Members that a set may have to count once, in words.
constexpr std::size_t words_at_once = 4;

/// Smallest sets of members that hit each of some given sets.
class HittingSets {
  public:
    /// `sets`: `n_words(n_members)` words each.
    HittingSets(std::size_t n_members, std::vector<Word> sets)
        : n_members_(n_members), stride_(n_words(n_members)), words_(std::move(sets)) {
        keep_minimal_sets();
    }

    /// Calls `visit(members)` for all smallest hitting sets. If that takes too long, for some of
    /// them and for one that may have a few members too many.
    template <typename Visitor>
    void for_each_smallest(Visitor&& visit) {
        const std::vector<std::size_t> members = greedy();
        const std::vector<Word> allowed(stride_, ~Word{0});
        std::size_t size = 0;
        std::optional<bool> is_enough = false;
        while (size < members.size() && is_enough && !*is_enough) {
            is_enough = can_hit(all(), allowed, size);
            if (is_enough && !*is_enough) ++size;
        }
        std::vector<std::size_t> found;
        if (!is_enough || !visit_all(all(), allowed, size, found, visit)) visit(members);
    }

  private:
    std::vector<std::uint32_t> all() const {
        std::vector<std::uint32_t> indices(n_sets());
        for (std::uint32_t i = 0; i < indices.size(); ++i) indices[i] = i;
        return indices;
    }
    std::vector<std::uint32_t> not_hit(const std::vector<std::uint32_t>& open,
                                       std::size_t k) const {
        std::vector<std::uint32_t> rest;
        for (const std::uint32_t i : open) {
            if (!has_bit(set(i), k)) rest.push_back(i);
        }
        return rest;
    }
    const Word* set(std::size_t i) const { return words_.data() + i * stride_; }
    std::size_t n_sets() const { return stride_ == 0 ? 0 : words_.size() / stride_; }
    int size(std::size_t i) const {
        int total = 0;
        for (std::size_t w = 0; w < stride_; ++w) total += std::popcount(set(i)[w]);
        return total;
    }
    bool is_inside(std::size_t i, std::size_t j) const {
        for (std::size_t w = 0; w < stride_; ++w) {
            if ((set(i)[w] & ~set(j)[w]) != 0) return false;
        }
        return true;
    }

    /// What hits a set hits all sets that contain it. Small sets come first.
    void keep_minimal_sets() {
        struct Entry {
            int size;
            std::uint32_t index;
        };
        std::vector<Entry> order(n_sets());
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = {size(i), i};
        std::sort(order.begin(), order.end(), [&](const Entry& a, const Entry& b) {
            if (a.size != b.size) return a.size < b.size;
            return std::lexicographical_compare(set(a.index), set(a.index) + stride_, set(b.index),
                                                set(b.index) + stride_);
        });
        std::vector<std::uint32_t> minimal;
        for (const Entry& entry : order) {
            // Comparing all with all would cost more than it saves.
            const std::size_t n_compared = std::min<std::size_t>(minimal.size(), 64);
            bool is_minimal = minimal.empty() || !is_inside(minimal.back(), entry.index);
            for (std::size_t k = 0; k < n_compared && is_minimal; ++k)
                is_minimal = !is_inside(minimal[k], entry.index);
            if (is_minimal) minimal.push_back(entry.index);
        }
        std::vector<Word> words;
        for (const std::uint32_t i : minimal) words.insert(words.end(), set(i), set(i) + stride_);
        words_ = std::move(words);
    }

    /// The member that hits most sets first (the smallest of several), then what became superfluous
    /// is taken out again. Ascending.
    std::vector<std::size_t> greedy() const {
        std::vector<std::size_t> members;
        for (std::vector<std::uint32_t> open = all(); !open.empty();) {
            std::vector<std::size_t> n_hits(n_members_);
            for (const std::uint32_t i : open) {
                for (std::size_t w = 0; w < stride_; ++w)
                    for_each_bit(set(i)[w], w * word_bits, [&](std::size_t k) { ++n_hits[k]; });
            }
            members.push_back(static_cast<std::size_t>(
                std::max_element(n_hits.begin(), n_hits.end()) - n_hits.begin()));
            open = not_hit(open, members.back());
        }
        std::sort(members.begin(), members.end());
        for (std::size_t i = members.size(); i-- > 0;) {
            std::vector<std::uint32_t> open = all();
            for (std::size_t j = 0; j < members.size(); ++j) {
                if (j != i) open = not_hit(open, members[j]);
            }
            if (open.empty()) members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
        }
        return members;
    }

    /// Counts a look at so many sets. Returns whether the work limit is reached.
    bool is_too_much(std::size_t n_looked_at) {
        work_ += n_looked_at * std::max<std::size_t>(1, stride_ / words_at_once);
        return work_ > work_limit;
    }

    /// Calls `visit(member)` for the allowed members each of which hits all open sets, until it
    /// returns false. Returns what it returned last.
    template <typename Visitor>
    bool for_each_in_all(const std::vector<std::uint32_t>& open, const std::vector<Word>& allowed,
                         Visitor&& visit) const {
        for (std::size_t w = 0; w < stride_; ++w) {
            Word bits = allowed[w];
            for (std::size_t i = 0; i < open.size() && bits != 0; ++i) bits &= set(open[i])[w];
            for (; bits != 0; bits &= bits - 1)
                if (!visit(w * word_bits + static_cast<std::size_t>(std::countr_zero(bits))))
                    return false;
        }
        return true;
    }

    /// Whether `size` of the allowed members hit the open sets; nothing when the work limit is
    /// reached. Branches over the members of the smallest open set, as one of them is needed.
    std::optional<bool> can_hit(const std::vector<std::uint32_t>& open,
                                const std::vector<Word>& allowed, std::size_t size) {
        if (open.empty()) return true;
        if (size == 0) return false;
        if (is_too_much(open.size())) return std::nullopt;
        if (size == 1) return !for_each_in_all(open, allowed, [](std::size_t) { return false; });
        std::uint32_t smallest = open.front();
        int fewest = std::numeric_limits<int>::max();
        for (const std::uint32_t i : open) {
            int n_members = 0;
            for (std::size_t w = 0; w < stride_; ++w)
                n_members += std::popcount(set(i)[w] & allowed[w]);
            if (n_members < fewest) smallest = i, fewest = n_members;
            if (fewest <= 1) break;
        }
        for (std::size_t w = 0; w < stride_; ++w) {
            for (Word bits = set(smallest)[w] & allowed[w]; bits != 0; bits &= bits - 1) {
                const std::size_t k =
                    w * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
                const std::optional<bool> is_enough = can_hit(not_hit(open, k), allowed, size - 1);
                if (!is_enough || *is_enough) return is_enough;
            }
        }
        return false;
    }

    /// The same, for all of them. False when the work limit is reached.
    template <typename Visitor>
    bool visit_all(const std::vector<std::uint32_t>& open, std::vector<Word> allowed,
                   std::size_t size, std::vector<std::size_t>& found, Visitor&& visit) {
        if (open.empty()) {
            visit(found);
            return true;
        }
        if (size == 0) return true;
        if (is_too_much(open.size())) return false;
        if (size == 1) {
            return for_each_in_all(open, allowed, [&](std::size_t k) {
                found.push_back(k);
                visit(found);
                found.pop_back();
                return !is_too_much(n_sets());
            });
        }
        for (std::size_t w = 0; w < stride_; ++w) {
            for (Word bits = set(open.front())[w] & allowed[w]; bits != 0; bits &= bits - 1) {
                const std::size_t k =
                    w * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
                // Sets with this member are visited now and not again.
                allowed[w] &= ~(bits & -bits);
                found.push_back(k);
                const bool is_done = visit_all(not_hit(open, k), allowed, size - 1, found, visit);
                found.pop_back();
                if (!is_done) return false;
            }
        }
        return true;
    }

    std::size_t n_members_;
    std::size_t stride_;       // words of a set
    std::vector<Word> words_;  // by set
    std::size_t work_ = 0;
};

/// A query has a given extent if all its columns contain it (are in its *closure*) and each row
/// outside is missed by one of them. Of one chain the smallest closure column misses most, so a
/// shortest query is a smallest set of chains whose smallest columns miss all rows outside. Some
/// of its columns can be exchanged for larger ones that come earlier.
class Shortening {
  public:
    Shortening(const Extents& extents, const BitSet& extent) : extents_(extents) {
        const std::vector<Word> closure = closure_of(extent);
        find_options(closure);
        find_outside(extent, closure);
    }

    std::vector<std::size_t> solve() {
        const std::size_t stride = n_words(options_.size());
        std::vector<Word> sets(outside_.size() * stride, 0);
        for (std::size_t i = 0; i < outside_.size(); ++i) {
            for (std::size_t k = 0; k < options_.size(); ++k)
                if (misses(options_[k].front(), outside_[i]))
                    set_bit(sets, i * stride * word_bits + k);
        }
        std::optional<std::vector<std::size_t>> best;
        HittingSets hitting_sets(options_.size(), std::move(sets));
        hitting_sets.for_each_smallest([&](const std::vector<std::size_t>& chains) {
            std::vector<std::size_t> query = first_query(chains);
            const bool is_first = !best || query.size() < best->size() ||
                                  (query.size() == best->size() && query < *best);
            if (is_first) best = std::move(query);
        });
        return *best;
    }

  private:
    static constexpr std::size_t n_seen = 1 << 12;

    bool misses(std::size_t column, std::size_t row) const {
        return !has_bit(extents_.signature(row), column);
    }

    /// The columns that contain an extent.
    std::vector<Word> closure_of(const BitSet& extent) const {
        std::vector<Word> closure = BitSet(extents_.n_columns(), true).words();
        extent.for_each([&](std::size_t row) {
            for (std::size_t w = 0; w < closure.size(); ++w)
                closure[w] &= extents_.signature(row)[w];
        });
        return closure;
    }

    /// Rows that the same closure columns miss count once; a few of them may count more often, as
    /// a cache of what was seen is faster than a full list.
    void find_outside(const BitSet& extent, const std::vector<Word>& closure) {
        const std::size_t stride = closure.size();
        std::vector<Word> seen(n_seen * stride, ~Word{0}), key(stride);
        for (std::size_t row = 0; row < extents_.n_distinct_rows(); ++row) {
            if (extent.contains(row)) continue;
            for (std::size_t w = 0; w < stride; ++w)
                key[w] = extents_.signature(row)[w] & closure[w];
            const auto slot = seen.begin() + static_cast<std::ptrdiff_t>(
                                                 hash_words(key.data(), stride) % n_seen * stride);
            if (std::equal(key.begin(), key.end(), slot)) continue;
            std::copy(key.begin(), key.end(), slot);
            outside_.push_back(row);
        }
    }

    /// By chain, the closure columns from small to large, without those that come after a smaller
    /// one: that would be as good.
    void find_options(const std::vector<Word>& closure) {
        std::vector<std::vector<std::size_t>> chains;
        BitSet(closure).for_each([&](std::size_t column) {
            const std::size_t chain = extents_.link(column).chain;
            if (chain >= chains.size()) chains.resize(chain + 1);
            chains[chain].push_back(column);
        });
        for (std::vector<std::size_t>& chain : chains) {
            std::sort(chain.begin(), chain.end(), [&](std::size_t a, std::size_t b) {
                return extents_.link(a).level < extents_.link(b).level;
            });
            std::vector<std::size_t> options;
            for (const std::size_t column : chain)
                if (options.empty() || column < options.back()) options.push_back(column);
            if (!options.empty()) options_.push_back(std::move(options));
        }
    }

    /// The lexicographically first query with one column of each of the given chains, which are as
    /// few as can be: one column after the other, each as early as the others permit.
    std::vector<std::size_t> first_query(std::vector<std::size_t> chains) const {
        std::vector<std::size_t> query;
        std::vector<std::size_t> open = outside_;
        while (!chains.empty()) {
            const Choice first = first_column(chains, open);
            query.push_back(first.column);
            std::erase(chains, first.chain);
            std::erase_if(open, [&](std::size_t row) { return misses(first.column, row); });
        }
        return query;
    }

    struct Choice {
        std::size_t column, chain;
    };

    Choice first_column(const std::vector<std::size_t>& chains,
                        std::vector<std::size_t>& open) const {
        std::vector<Choice> choices;
        for (const std::size_t chain : chains)
            for (const std::size_t column : options_[chain]) choices.push_back({column, chain});
        std::sort(choices.begin(), choices.end(),
                  [](const Choice& a, const Choice& b) { return a.column < b.column; });
        for (const Choice& choice : choices) {
            const auto is_lost = [&](std::size_t row) {
                return !misses(choice.column, row) &&
                       std::none_of(chains.begin(), chains.end(), [&](std::size_t chain) {
                           const std::size_t column = options_[chain].front();
                           return chain != choice.chain && column > choice.column &&
                                  misses(column, row);
                       });
            };
            const auto lost = std::find_if(open.begin(), open.end(), is_lost);
            if (lost == open.end()) return choice;
            // What one choice loses the next one is likely to lose.
            std::rotate(open.begin(), lost, lost + 1);
        }
        return choices.back();  // not reached: the smallest columns lose no row
    }

    const Extents& extents_;
    std::vector<std::vector<std::size_t>> options_;  // by chain that has any
    std::vector<std::size_t> outside_;  // rows, of those that the closure columns tell apart
};

}  // namespace

std::vector<std::size_t> shorten_query(const Extents& extents, const BitSet& extent) {
    return Shortening(extents, extent).solve();
}

}  // namespace rulesearch

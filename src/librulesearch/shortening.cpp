#include "librulesearch/shortening.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace rulesearch {
namespace {

// Sets looked at in search of the shortest query: some ten milliseconds. Queries of up to four or
// five columns, which is what people read, are found long before.
constexpr std::size_t work_limit = 5'000'000;

/// A query has a given extent if all its columns contain it (are in its *closure*) and each row
/// outside is missed by one of them. So the shortest one is a smallest set of columns that hits,
/// for each row outside, the set of closure columns that miss it.
class HittingSet {
  public:
    HittingSet(const Propositions& propositions, const BitSet& extent) {
        stride_ = propositions.stride();
        n_columns_ = propositions.n_columns();
        std::vector<Word> closure = BitSet(n_columns_, true).words();
        extent.for_each([&](std::size_t row) {
            for (std::size_t w = 0; w < stride_; ++w) closure[w] &= propositions.signature(row)[w];
        });
        for (std::size_t row = 0; row < propositions.n_distinct_rows(); ++row) {
            if (extent.contains(row)) continue;
            for (std::size_t w = 0; w < stride_; ++w)
                words_.push_back(closure[w] & ~propositions.signature(row)[w]);
        }
        keep_minimal_sets();
    }

    std::vector<std::size_t> solve() {
        std::vector<std::size_t> members = greedy();
        std::vector<Word> allowed(stride_, ~Word{0});
        // The smallest size.
        std::size_t size = 0;
        for (; size < members.size(); ++size) {
            const std::optional<bool> is_enough = can_hit(all(), allowed, size);
            if (!is_enough) return members;  // out of work
            if (*is_enough) break;
        }
        // The first set of that size: one member after the other, each as small as it can be.
        std::vector<std::size_t> first;
        std::vector<std::uint32_t> open = all();
        for (std::size_t k = 0; first.size() < size && k < n_columns_; ++k) {
            allowed[k / word_bits] &= ~(Word{1} << (k % word_bits));
            const std::vector<std::uint32_t> rest = not_hit(open, k);
            const std::optional<bool> is_enough = can_hit(rest, allowed, size - first.size() - 1);
            if (!is_enough) return members;
            if (!*is_enough) continue;
            first.push_back(k);
            open = rest;
        }
        return first;
    }

  private:
    std::vector<std::uint32_t> all() const {
        std::vector<std::uint32_t> indices(n_sets());
        for (std::uint32_t i = 0; i < indices.size(); ++i) indices[i] = i;
        return indices;
    }
    bool contains(std::size_t i, std::size_t k) const {
        return (set(i)[k / word_bits] >> (k % word_bits)) & 1;
    }
    std::vector<std::uint32_t> not_hit(const std::vector<std::uint32_t>& open,
                                       std::size_t k) const {
        std::vector<std::uint32_t> rest;
        for (const std::uint32_t i : open) {
            if (!contains(i, k)) rest.push_back(i);
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

    /// The column that hits most sets first (the smallest of several), then what became superfluous
    /// is taken out again. Ascending.
    std::vector<std::size_t> greedy() const {
        std::vector<std::size_t> members;
        for (std::vector<std::uint32_t> open = all(); !open.empty();) {
            std::vector<std::size_t> n_hits(n_columns_);
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

    /// Whether `size` of the allowed columns hit the open sets; nothing when the work limit is
    /// reached. Branches over the members of the smallest open set, as one of them is needed.
    std::optional<bool> can_hit(const std::vector<std::uint32_t>& open,
                                const std::vector<Word>& allowed, std::size_t size) {
        if (open.empty()) return true;
        if (size == 0) return false;
        work_ += open.size();
        if (work_ > work_limit) return std::nullopt;
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

    std::size_t n_columns_;
    std::size_t stride_;       // words of a set of columns
    std::vector<Word> words_;  // by row outside: closure columns that miss it
    std::size_t work_ = 0;
};

}  // namespace

std::vector<std::size_t> shorten_query(const Propositions& propositions, const BitSet& extent) {
    return HittingSet(propositions, extent).solve();
}

}  // namespace rulesearch

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
        const std::size_t stride = propositions.stride();
        std::vector<Word> closure = BitSet(propositions.n_columns(), true).words();
        extent.for_each([&](std::size_t row) {
            for (std::size_t w = 0; w < stride; ++w) closure[w] &= propositions.signature(row)[w];
        });
        for (std::size_t w = 0; w < stride; ++w) {
            for_each_bit(closure[w], w * word_bits,
                         [&](std::size_t column) { columns_.push_back(column); });
        }
        stride_ = n_words(columns_.size());
        std::vector<Word> misses(stride_);
        for (std::size_t row = 0; row < propositions.n_distinct_rows(); ++row) {
            if (extent.contains(row)) continue;
            std::fill(misses.begin(), misses.end(), 0);
            const Word* signature = propositions.signature(row);
            for (std::size_t k = 0; k < columns_.size(); ++k) {
                const std::size_t column = columns_[k];
                const Word is_in = (signature[column / word_bits] >> (column % word_bits)) & 1;
                misses[k / word_bits] |= (is_in ^ 1) << (k % word_bits);
            }
            sets_.push_back(misses);
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
            if (!is_enough) return columns(members);  // out of work
            if (*is_enough) break;
        }
        // The first set of that size: one member after the other, each as small as it can be.
        std::vector<std::size_t> first;
        std::vector<std::uint32_t> open = all();
        for (std::size_t k = 0; first.size() < size && k < columns_.size(); ++k) {
            allowed[k / word_bits] &= ~(Word{1} << (k % word_bits));
            const std::vector<std::uint32_t> rest = not_hit(open, k);
            const std::optional<bool> is_enough = can_hit(rest, allowed, size - first.size() - 1);
            if (!is_enough) return columns(members);
            if (!*is_enough) continue;
            first.push_back(k);
            open = rest;
        }
        return columns(first);
    }

  private:
    std::vector<std::uint32_t> all() const {
        std::vector<std::uint32_t> indices(sets_.size());
        for (std::uint32_t i = 0; i < indices.size(); ++i) indices[i] = i;
        return indices;
    }
    bool contains(std::size_t set, std::size_t k) const {
        return (sets_[set][k / word_bits] >> (k % word_bits)) & 1;
    }
    std::vector<std::uint32_t> not_hit(const std::vector<std::uint32_t>& open,
                                       std::size_t k) const {
        std::vector<std::uint32_t> rest;
        for (const std::uint32_t set : open) {
            if (!contains(set, k)) rest.push_back(set);
        }
        return rest;
    }
    std::vector<std::size_t> columns(std::vector<std::size_t> members) const {
        std::transform(members.begin(), members.end(), members.begin(),
                       [&](std::size_t k) { return columns_[k]; });
        return members;
    }

    /// What hits a set hits all sets that contain it. Small sets come first.
    void keep_minimal_sets() {
        const auto size = [](const std::vector<Word>& set) {
            int total = 0;
            for (const Word word : set) total += std::popcount(word);
            return total;
        };
        std::sort(sets_.begin(), sets_.end());
        sets_.erase(std::unique(sets_.begin(), sets_.end()), sets_.end());
        std::stable_sort(sets_.begin(), sets_.end(),
                         [&](const auto& a, const auto& b) { return size(a) < size(b); });
        std::vector<std::vector<Word>> minimal;
        for (const std::vector<Word>& set : sets_) {
            const auto is_inside = [&](const std::vector<Word>& other) {
                for (std::size_t w = 0; w < stride_; ++w) {
                    if ((other[w] & ~set[w]) != 0) return false;
                }
                return true;
            };
            // Comparing all with all would cost more than it saves.
            const std::size_t n_compared = std::min<std::size_t>(minimal.size(), 64);
            if (std::none_of(minimal.begin(),
                             minimal.begin() + static_cast<std::ptrdiff_t>(n_compared), is_inside))
                minimal.push_back(set);
        }
        sets_ = std::move(minimal);
    }

    /// The column that hits most sets first (the smallest of several), then what became superfluous
    /// is taken out again. Ascending.
    std::vector<std::size_t> greedy() const {
        std::vector<std::size_t> members;
        for (std::vector<std::uint32_t> open = all(); !open.empty();) {
            std::vector<std::size_t> n_hits(columns_.size());
            for (const std::uint32_t set : open) {
                for (std::size_t w = 0; w < stride_; ++w)
                    for_each_bit(sets_[set][w], w * word_bits, [&](std::size_t k) { ++n_hits[k]; });
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
        for (const std::uint32_t set : open) {
            int n_members = 0;
            for (std::size_t w = 0; w < stride_; ++w)
                n_members += std::popcount(sets_[set][w] & allowed[w]);
            if (n_members < fewest) smallest = set, fewest = n_members;
            if (fewest <= 1) break;
        }
        for (std::size_t w = 0; w < stride_; ++w) {
            for (Word bits = sets_[smallest][w] & allowed[w]; bits != 0; bits &= bits - 1) {
                const std::size_t k =
                    w * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
                const std::optional<bool> is_enough = can_hit(not_hit(open, k), allowed, size - 1);
                if (!is_enough || *is_enough) return is_enough;
            }
        }
        return false;
    }

    std::vector<std::size_t> columns_;     // the closure
    std::size_t stride_;                   // words of a set of closure columns
    std::vector<std::vector<Word>> sets_;  // by row outside: closure columns that miss it
    std::size_t work_ = 0;
};

}  // namespace

std::vector<std::size_t> shorten_query(const Propositions& propositions, const BitSet& extent) {
    return HittingSet(propositions, extent).solve();
}

}  // namespace rulesearch

#include "librulesearch/shortening.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace rulesearch {
namespace {

// Word operations spent on the exact cover: about ten milliseconds. Covers of up to four or five
// columns, which is what people read, are found long before.
constexpr std::size_t work_limit = 20'000'000;

/// Covers a set of rows by the rows that columns exclude.
class SetCover {
  public:
    SetCover(const Propositions& propositions, const BitSet& extent)
        : excluded_(propositions.n_distinct_rows(), true) {
        excluded_ -= extent;
        for (std::size_t column = 0; column < propositions.n_columns(); ++column) {
            if (!extent.is_subset_of(propositions.extent(column))) continue;
            BitSet exclusion = excluded_;
            exclusion -= propositions.extent(column);
            columns_.push_back(column);
            exclusions_.push_back(std::move(exclusion));
        }
        largest_from_.assign(columns_.size() + 1, 0);
        for (std::size_t i = columns_.size(); i-- > 0;) {
            largest_from_[i] = std::max(largest_from_[i + 1], exclusions_[i].size());
        }
    }

    std::vector<std::size_t> solve() {
        const std::vector<std::size_t> greedy = greedy_cover();
        for (std::size_t size = 0; size <= greedy.size(); ++size) {
            chosen_.clear();
            const std::optional<bool> is_found = cover(excluded_, 0, size);
            if (!is_found) return greedy;  // out of work
            if (*is_found) return chosen_;
        }
        return greedy;
    }

  private:
    /// The column that excludes most rows first (the smallest of several), then what became
    /// superfluous is taken out again.
    std::vector<std::size_t> greedy_cover() const {
        std::vector<std::size_t> cover;
        for (BitSet left = excluded_; !left.empty();) {
            std::size_t best = 0, best_size = 0;
            for (std::size_t i = 0; i < columns_.size(); ++i) {
                const std::size_t size = intersection_size(exclusions_[i], left);
                if (size > best_size) best = i, best_size = size;
            }
            left -= exclusions_[best];
            cover.push_back(best);
        }
        std::sort(cover.begin(), cover.end());
        for (std::size_t k = cover.size(); k-- > 0;) {
            BitSet left = excluded_;
            for (std::size_t j = 0; j < cover.size(); ++j) {
                if (j != k) left -= exclusions_[cover[j]];
            }
            if (left.empty()) cover.erase(cover.begin() + static_cast<std::ptrdiff_t>(k));
        }
        std::transform(cover.begin(), cover.end(), cover.begin(),
                       [&](std::size_t i) { return columns_[i]; });
        return cover;
    }

    /// Appends to `chosen_` the first `size` columns from `begin` on that cover `left`. Returns
    /// whether there are any; nothing when the work limit is reached.
    std::optional<bool> cover(const BitSet& left, std::size_t begin, std::size_t size) {
        const std::size_t n_left = left.size();
        if (size == 0) return n_left == 0;
        for (std::size_t i = begin; i < columns_.size(); ++i) {
            if (largest_from_[i] * size < n_left) return false;
            work_ += left.words().size();
            if (work_ > work_limit) return std::nullopt;
            if (size == 1 && !left.is_subset_of(exclusions_[i])) continue;
            BitSet rest = left;
            rest -= exclusions_[i];
            chosen_.push_back(columns_[i]);
            const std::optional<bool> is_found = cover(rest, i + 1, size - 1);
            if (!is_found || *is_found) return is_found;
            chosen_.pop_back();
        }
        return false;
    }

    BitSet excluded_;
    std::vector<std::size_t> columns_;
    std::vector<BitSet> exclusions_;
    std::vector<std::size_t> largest_from_;
    std::vector<std::size_t> chosen_;
    std::size_t work_ = 0;
};

}  // namespace

std::vector<std::size_t> shorten_query(const Propositions& propositions, const BitSet& extent) {
    return SetCover(propositions, extent).solve();
}

}  // namespace rulesearch

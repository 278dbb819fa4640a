#include "librulesearch/conditions/row_orders.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace rulesearch::conditions {

void RowOrders::sort_by_ratio(const KeyedRows& from, KeyedRows& to) {
    permutation_.resize(from.size());
    positive_.clear();
    negative_.clear();
    std::size_t n_neutral = 0;
    for (std::uint32_t i = 0; i < from.size(); ++i) {
        const double gradient = from.gradient(i), hessian = from.hessian(i);
        if (gradient == 0.0) {
            permutation_[from.size() - ++n_neutral] = i;
            continue;
        }
        // Numbers above 0 have the order of their bits.
        (gradient > 0.0 ? positive_ : negative_)
            .push_back({std::bit_cast<Word>(ratio(std::abs(gradient), hessian)), i});
    }
    auto next = permutation_.begin();
    for (std::vector<Key>* ratios : {&positive_, &negative_}) {
        sort_descending(*ratios);
        next = std::transform(ratios->begin(), ratios->end(), next,
                              [](const Key& ratio) { return ratio.row; });
    }
    to.gather(from, permutation_.data(), permutation_.size());
}

void RowOrders::sort_by_key(const KeyedRows& from, KeyedRows& to) {
    const std::size_t last = from.n_planes() - 1;
    // The last plane decides nearly always, so it is sorted by value.
    keys_.resize(from.size());
    for (std::uint32_t i = 0; i < from.size(); ++i) keys_[i] = {from.plane(last)[i], i};
    if (last == 0) {
        sort_descending(keys_);
    } else {
        std::sort(keys_.begin(), keys_.end(), [&](const Key& a, const Key& b) {
            if (a.key != b.key) return a.key > b.key;
            for (std::size_t p = last; p-- > 0;) {
                if (from.plane(p)[a.row] != from.plane(p)[b.row])
                    return from.plane(p)[a.row] > from.plane(p)[b.row];
            }
            return false;
        });
    }
    permutation_.resize(from.size());
    std::transform(keys_.begin(), keys_.end(), permutation_.begin(),
                   [](const Key& key) { return key.row; });
    to.gather(from, permutation_.data(), permutation_.size());
}

/// Digit by digit, the last one first, without those that are the same in all keys.
void RowOrders::sort_descending(std::vector<Key>& keys) {
    if (keys.size() < min_by_digits) {
        std::sort(keys.begin(), keys.end(),
                  [](const Key& a, const Key& b) { return a.key > b.key; });
        return;
    }
    constexpr std::size_t n_digits = sizeof(Word), base = 256;
    std::array<std::array<std::uint32_t, base>, n_digits> counts{};
    for (const Key& key : keys) {
        for (std::size_t d = 0; d < n_digits; ++d) ++counts[d][(key.key >> (8 * d)) % base];
    }
    sorted_.resize(keys.size());
    for (std::size_t d = 0; d < n_digits; ++d) {
        if (counts[d][(keys.front().key >> (8 * d)) % base] == keys.size()) continue;
        std::uint32_t next = 0;  // the larger digit comes first
        for (std::size_t digit = base; digit-- > 0;) {
            next += std::exchange(counts[d][digit], next);
        }
        for (const Key& key : keys) sorted_[counts[d][(key.key >> (8 * d)) % base]++] = key;
        keys.swap(sorted_);
    }
}

}  // namespace rulesearch::conditions

#include "librulesearch/row_orders.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rulesearch {

void RowOrders::sort_by_ratio(const KeyedRows& from, KeyedRows& to) {
    std::size_t n_positive = 0, n_negative = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
        n_positive += from.gradient(i) > 0.0;
        n_negative += from.gradient(i) < 0.0;
    }
    positive_.resize(n_positive);
    negative_.resize(n_negative);
    permutation_.resize(from.size());
    std::size_t n_neutral = 0;
    n_positive = n_negative = 0;
    for (std::uint32_t i = 0; i < from.size(); ++i) {
        const double gradient = from.gradient(i), hessian = from.hessian(i);
        if (gradient == 0.0) {
            permutation_[from.size() - ++n_neutral] = i;
            continue;
        }
        const double ratio =
            hessian > 0.0 ? std::abs(gradient) / hessian : std::numeric_limits<double>::infinity();
        (gradient > 0.0 ? positive_[n_positive++] : negative_[n_negative++]) = {ratio, i};
    }
    const auto descending = [](const Ratio& a, const Ratio& b) { return a.ratio > b.ratio; };
    std::sort(positive_.begin(), positive_.end(), descending);
    std::sort(negative_.begin(), negative_.end(), descending);
    auto next = permutation_.begin();
    for (const auto* ratios : {&positive_, &negative_}) {
        next = std::transform(ratios->begin(), ratios->end(), next,
                              [](const Ratio& ratio) { return ratio.row; });
    }
    to.gather(from, permutation_.data(), permutation_.size());
}

void RowOrders::sort_by_key(const KeyedRows& from, KeyedRows& to) {
    const std::size_t last = from.n_planes() - 1;
    // The last plane decides nearly always, so it is sorted by value.
    keys_.resize(from.size());
    for (std::uint32_t i = 0; i < from.size(); ++i) keys_[i] = {from.plane(last)[i], i};
    std::sort(keys_.begin(), keys_.end(), [&](const Key& a, const Key& b) {
        if (a.key != b.key) return a.key > b.key;
        for (std::size_t p = last; p-- > 0;) {
            if (from.plane(p)[a.row] != from.plane(p)[b.row])
                return from.plane(p)[a.row] > from.plane(p)[b.row];
        }
        return false;
    });
    permutation_.resize(from.size());
    std::transform(keys_.begin(), keys_.end(), permutation_.begin(),
                   [](const Key& key) { return key.row; });
    to.gather(from, permutation_.data(), permutation_.size());
}

}  // namespace rulesearch

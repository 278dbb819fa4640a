#include "librulesearch/ranges/split_bound.hpp"

#include <algorithm>

namespace rulesearch::ranges {

void SplitBound::start() {
    balance_ = payments_.balance();
    is_changed_.assign(rows_.n_good(), 0);
    changed_.clear();
    window_.assign(rows_.stride(), 0);
    words_.clear();
}

void SplitBound::change(std::size_t good) {
    if (is_changed_[good] != 0) return;
    is_changed_[good] = 1;
    changed_.push_back(static_cast<std::uint32_t>(good));
}

/// Unchanged items come in the node's order; the changed ones are sorted in.
template <typename IsAlive>
Peak SplitBound::scan(const Statistics& base, const Node& node, std::span<const Item> items,
                      IsAlive&& is_alive) {
    const double half = 0.5 * node.low_slope;
    changed_items_.clear();
    for (const std::uint32_t good : changed_) {
        if (!is_alive(good) || balance_.price(good, half) <= 0.0) continue;
        changed_items_.emplace_back(balance_.gradients[good], balance_.hessians[good], good);
    }
    std::sort(changed_items_.begin(), changed_items_.end());
    PrefixPeak prefix(base, l2_regularization_, node.low_slope, node.high_slope);
    auto next = changed_items_.begin();
    for (const Item& item : items) {
        if (is_changed_[item.good] != 0 || !is_alive(item.good)) continue;
        if (item.gradient <= half * item.hessian) break;  // and so are all that follow
        while (next != changed_items_.end() && *next < item) prefix.add(*next++);
        prefix.add(item);
    }
    while (next != changed_items_.end()) prefix.add(*next++);
    return prefix.peak();
}

Peak SplitBound::at_or_above(const Node& node, std::span<const Item> items, std::size_t side,
                             Level level) {
    start();
    Statistics base = rows_.mandatory();
    const Level tight = rows_.tight(side);
    const auto becomes_mandatory = [&](std::size_t i) {
        return rows_.n_outside(i) == 1 && rows_.level(i, side) <= level &&
               rows_.level(i, side) > tight;
    };
    const auto order = rows_.order(side);
    auto at = std::partition_point(order.begin(), order.end(),
                                   [&](std::uint32_t i) { return rows_.level(i, side) <= tight; });
    for (; at != order.end() && rows_.level(*at, side) <= level; ++at) {
        const bool is_bad = *at >= rows_.n_good();
        const std::size_t bad = *at - rows_.n_good();
        if (becomes_mandatory(*at)) {
            base += rows_.statistics(*at);
            if (!is_bad || rows_.stride() == 0) continue;
            // Nobody has to pay for it any more.
            clear_bit(balance_.open, bad);
            payments_.for_each_share_of_bad(bad, [&](const Payments::Share& share) {
                balance_.gradients[share.good] -= share.gradient;
                balance_.hessians[share.good] -= share.hessian;
                change(share.good);
            });
        } else if (is_bad && rows_.stride() > 0) {
            set_bit(window_, bad);
        }
    }
    const std::size_t n_relieved = changed_.size();
    for (std::uint32_t w = 0; w < window_.size(); ++w)
        if ((window_[w] &= balance_.open[w]) != 0) words_.push_back(w);
    // A good row below the level now implies bad ones up to it that it does not on this side only.
    const auto pay = [&](double half) {
        for (std::size_t k = 0; k < n_relieved; ++k) {
            const std::uint32_t good = changed_[k];
            if (becomes_mandatory(good)) continue;
            for (std::size_t w = 0; w < rows_.stride(); ++w)
                balance_.pay(good, w, rows_.implied(good)[w], half);
        }
        if (words_.empty()) return;
        for (const std::uint32_t good : payments_.payers()) {
            const Level reach = rows_.level(good, side);
            if (reach >= level || balance_.price(good, half) <= 0.0 || becomes_mandatory(good))
                continue;
            const Word* nearly = rows_.nearly_implied(good);
            for (const std::uint32_t w : words_) {
                Word bits = 0;
                for_each_bit(nearly[w] & window_[w] & balance_.open[w], 0, [&](std::size_t b) {
                    const std::size_t bad = rows_.n_good() + w * word_bits + b;
                    if (rows_.level(bad, side) > reach) bits |= Word{1} << b;
                });
                if (bits == 0) continue;
                change(good);
                balance_.pay(good, w, bits, half);
            }
        }
    };
    if (node.main_slope > node.low_slope) pay(0.5 * node.main_slope);
    pay(0.5 * node.low_slope);
    return scan(base, node, items, [&](std::size_t i) { return !becomes_mandatory(i); });
}

Peak SplitBound::below(const Node& node, std::span<const Item> items, std::size_t side,
                       Level level) {
    start();
    if (rows_.stride() > 0) {
        // What the rows have paid for that go is to be paid by others.
        const auto order = rows_.order(side);
        std::size_t end = order.size();
        for (; end > 0 && rows_.level(order[end - 1], side) >= level; --end) {
            if (order[end - 1] >= rows_.n_good()) continue;
            payments_.for_each_share_of_good(order[end - 1], [&](const Payments::Share& share) {
                balance_.left_gradients[share.bad] += share.gradient;
                balance_.left_hessians[share.bad] += share.hessian;
                set_bit(window_, share.bad);
            });
        }
        for (std::size_t k = end; k < order.size(); ++k)
            if (order[k] >= rows_.n_good()) clear_bit(window_, order[k] - rows_.n_good());
        balance_.open = window_;
        for (std::uint32_t w = 0; w < window_.size(); ++w)
            if (window_[w] != 0) words_.push_back(w);
    }
    const auto is_alive = [&](std::size_t i) { return rows_.level(i, side) < level; };
    const auto pay = [&](double half) {
        for (const std::uint32_t good : payments_.payers()) {
            if (!is_alive(good) || balance_.price(good, half) <= 0.0) continue;
            for (const std::uint32_t w : words_) {
                const Word bits = rows_.implied(good)[w] & balance_.open[w];
                if (bits == 0) continue;
                change(good);
                balance_.pay(good, w, bits, half);
            }
        }
    };
    if (!words_.empty()) {
        if (node.main_slope > node.low_slope) pay(0.5 * node.main_slope);
        pay(0.5 * node.low_slope);
    }
    return scan(rows_.mandatory(), node, items, is_alive);
}

}  // namespace rulesearch::ranges

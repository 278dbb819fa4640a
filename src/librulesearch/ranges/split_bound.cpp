#include "librulesearch/ranges/split_bound.hpp"

#include <algorithm>

namespace rulesearch::ranges {

void SplitBound::start() {
    balance_ = offsets_.balance();
    is_changed_.assign(rows_.n_gaining(), 0);
    changed_.clear();
    window_.assign(rows_.stride(), 0);
    words_.clear();
}

void SplitBound::change(std::size_t gaining) {
    if (is_changed_[gaining] != 0) return;
    is_changed_[gaining] = 1;
    changed_.push_back(static_cast<std::uint32_t>(gaining));
}

/// Unchanged items come in the node's order; the changed ones are sorted in.
template <typename IsAlive>
Peak SplitBound::scan(const Statistics& base, const Node& node, std::span<const Item> items,
                      IsAlive&& is_alive) {
    changed_items_.clear();
    for (const std::uint32_t gaining : changed_) {
        if (!is_alive(gaining) || balance_.price(gaining, node.low_slope) <= 0.0) continue;
        changed_items_.emplace_back(balance_.gradients[gaining], balance_.hessians[gaining],
                                    gaining);
    }
    std::sort(changed_items_.begin(), changed_items_.end());
    PrefixPeak prefix(base, l2_regularization_, node.low_slope, node.high_slope);
    auto next = changed_items_.begin();
    for (const Item& item : items) {
        if (is_changed_[item.row] != 0 || !is_alive(item.row)) continue;
        if (price(item.gradient, item.hessian, node.low_slope) <= 0.0)
            break;  // and so are all that follow
        while (next != changed_items_.end() && *next < item) prefix.add(*next++);
        prefix.add(item);
    }
    while (next != changed_items_.end()) prefix.add(*next++);
    return prefix.peak();
}

Peak SplitBound::at_or_above(const Node& node, std::span<const Item> items, std::size_t chain,
                             Level level) {
    start();
    Statistics base = rows_.forced();
    const Level tight = rows_.tight(chain);
    const auto becomes_forced = [&](std::size_t i) {
        return rows_.n_outside(i) == 1 && rows_.level(i, chain) <= level &&
               rows_.level(i, chain) > tight;
    };
    const auto order = rows_.order(chain);
    auto at = std::partition_point(order.begin(), order.end(),
                                   [&](std::uint32_t i) { return rows_.level(i, chain) <= tight; });
    for (; at != order.end() && rows_.level(*at, chain) <= level; ++at) {
        const bool is_costing = *at >= rows_.n_gaining();
        const std::size_t costing = *at - rows_.n_gaining();
        if (becomes_forced(*at)) {
            base += rows_.statistics(*at);
            if (!is_costing || rows_.stride() == 0) continue;
            // It is not to be set off any more.
            clear_bit(balance_.open, costing);
            offsets_.for_each_share_of_costing(costing, [&](const Offsets::Share& share) {
                balance_.gradients[share.gaining] -= share.gradient;
                balance_.hessians[share.gaining] -= share.hessian;
                change(share.gaining);
            });
        } else if (is_costing && rows_.stride() > 0) {
            set_bit(window_, costing);
        }
    }
    const std::size_t n_relieved = changed_.size();
    for (std::uint32_t w = 0; w < window_.size(); ++w)
        if ((window_[w] &= balance_.open[w]) != 0) words_.push_back(w);
    // A gaining row below the level now implies costing ones up to it that it does not on this
    // chain only.
    const auto set_off = [&](double slope) {
        for (std::size_t k = 0; k < n_relieved; ++k) {
            const std::uint32_t gaining = changed_[k];
            if (becomes_forced(gaining)) continue;
            for (std::size_t w = 0; w < rows_.stride(); ++w)
                balance_.set_off(gaining, w, rows_.implied(gaining)[w], slope);
        }
        if (words_.empty()) return;
        for (const std::uint32_t gaining : offsets_.turns()) {
            const Level reach = rows_.level(gaining, chain);
            if (reach >= level || balance_.price(gaining, slope) <= 0.0 || becomes_forced(gaining))
                continue;
            const Word* nearly = rows_.nearly_implied(gaining);
            for (const std::uint32_t w : words_) {
                Word bits = 0;
                for_each_bit(nearly[w] & window_[w] & balance_.open[w], 0, [&](std::size_t b) {
                    const std::size_t costing = rows_.n_gaining() + w * word_bits + b;
                    if (rows_.level(costing, chain) > reach) bits |= Word{1} << b;
                });
                if (bits == 0) continue;
                change(gaining);
                balance_.set_off(gaining, w, bits, slope);
            }
        }
    };
    if (node.main_slope > node.low_slope) set_off(node.main_slope);
    set_off(node.low_slope);
    return scan(base, node, items, [&](std::size_t i) { return !becomes_forced(i); });
}

Peak SplitBound::below(const Node& node, std::span<const Item> items, std::size_t chain,
                       Level level) {
    start();
    if (rows_.stride() > 0) {
        // What was set off against rows that go is to be set off against others.
        const auto order = rows_.order(chain);
        std::size_t end = order.size();
        for (; end > 0 && rows_.level(order[end - 1], chain) >= level; --end) {
            if (order[end - 1] >= rows_.n_gaining()) continue;
            offsets_.for_each_share_of_gaining(order[end - 1], [&](const Offsets::Share& share) {
                balance_.left_gradients[share.costing] += share.gradient;
                balance_.left_hessians[share.costing] += share.hessian;
                set_bit(window_, share.costing);
            });
        }
        for (std::size_t k = end; k < order.size(); ++k)
            if (order[k] >= rows_.n_gaining()) clear_bit(window_, order[k] - rows_.n_gaining());
        balance_.open = window_;
        for (std::uint32_t w = 0; w < window_.size(); ++w)
            if (window_[w] != 0) words_.push_back(w);
    }
    const auto is_alive = [&](std::size_t i) { return rows_.level(i, chain) < level; };
    const auto set_off = [&](double slope) {
        for (const std::uint32_t gaining : offsets_.turns()) {
            if (!is_alive(gaining) || balance_.price(gaining, slope) <= 0.0) continue;
            for (const std::uint32_t w : words_) {
                const Word bits = rows_.implied(gaining)[w] & balance_.open[w];
                if (bits == 0) continue;
                change(gaining);
                balance_.set_off(gaining, w, bits, slope);
            }
        }
    };
    if (!words_.empty()) {
        if (node.main_slope > node.low_slope) set_off(node.main_slope);
        set_off(node.low_slope);
    }
    return scan(rows_.forced(), node, items, is_alive);
}

}  // namespace rulesearch::ranges

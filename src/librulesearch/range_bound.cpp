#include "librulesearch/range_bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace rulesearch {
namespace {

// Each of the few operations per optional row is off by half a unit in the last place at most.
constexpr double rounding_per_row = 4e-16;

// Sets of blockers of more good rows than this take more memory, in words, than they are worth.
constexpr std::size_t most_words = std::size_t{1} << 24;

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

double ratio(double gradient, double hessian) {
    return hessian > 0.0 ? gradient / hessian : std::numeric_limits<double>::infinity();
}

std::uint32_t first_of(const std::vector<Word>& words) {
    for (std::size_t w = 0; w < words.size(); ++w) {
        if (words[w] != 0)
            return static_cast<std::uint32_t>(w * word_bits) +
                   static_cast<std::uint32_t>(std::countr_zero(words[w]));
    }
    return none;
}

}  // namespace

/// What good rows are worth that can pay for all they imply.
void RangeBound::collect_items(const Balance& balance, double low_slope,
                               std::vector<Item>& items) const {
    items.clear();
    for (std::uint32_t good = 0; good < rows_.n_good(); ++good) {
        if (balance.price(good, 0.5 * low_slope) <= 0.0) continue;
        const double gradient = balance.gradients[good], hessian = balance.hessians[good];
        items.push_back({gradient, hessian, ratio(gradient, hessian), good});
    }
    std::sort(items.begin(), items.end());
}

Peak RangeBound::with_rounding(Peak peak) const {
    const double magnitude = peak.slope * (2.0 * sum_magnitudes_ + peak.slope * sum_hessians_);
    peak.bound +=
        rounding_per_row * (static_cast<double>(rows_.n_optional()) * magnitude + 4.0 * peak.bound);
    return peak;
}

Peak RangeBound::scan(std::span<const Item> items, double low_slope, double high_slope) const {
    PrefixPeak prefix(rows_.mandatory(), l2_regularization_, low_slope, high_slope);
    for (const Item& item : items) prefix.add(item);
    return with_rounding(prefix.peak());
}

Peak RangeBound::of_node(RangeNode& node) {
    sum_magnitudes_ = sum_hessians_ = 0.0;
    for (std::size_t i = 0; i < rows_.n_optional(); ++i) {
        sum_magnitudes_ += std::fabs(rows_.statistics(i).gradient);
        sum_hessians_ += rows_.statistics(i).hessian;
    }
    items_slope_ = node.low_slope;
    main_slope_ = node.main_slope;
    payments_.make(main_slope_, node.low_slope);
    collect_items(payments_.balance(), node.low_slope, items_);
    const Peak peak = scan(items_, node.low_slope, node.high_slope);
    node.main_slope = peak.slope;
    return peak;
}

bool RangeBound::slopes_above(double value, RangeNode& node) const {
    double low = node.high_slope, high = node.low_slope;
    double gradient = rows_.mandatory().gradient, hessian = rows_.mandatory().hessian;
    const auto look = [&] {
        if (gradient <= 0.0) return;
        const double denominator = l2_regularization_ + hessian;
        const double rest = gradient * gradient - value * denominator;
        if (rest < 0.0) return;
        const double root = gradient + std::sqrt(rest);
        low = std::min(low, value / root);
        high = std::max(high, root / denominator);
    };
    look();
    for (const Item& item : blocked_items_) {
        gradient += item.gradient;
        hessian += item.hessian;
        look();
    }
    // The value leaves room for rounding, so that the slopes need little.
    node.low_slope = std::max(node.low_slope, low * (1.0 - 1e-12));
    node.high_slope = std::min(node.high_slope, high * (1.0 + 1e-12));
    return node.low_slope <= node.high_slope;
}

double RangeBound::between(double low_slope, double high_slope) {
    if (low_slope <= items_slope_) return scan(items_, low_slope, high_slope).bound;
    other_payments_.make(main_slope_, low_slope);
    collect_items(other_payments_.balance(), low_slope, other_items_);
    return scan(other_items_, low_slope, high_slope).bound;
}

/// By side, the good rows of the highest levels, for every number of them that a bad row needs.
void RangeBound::find_blockers(const RangeNode& node) {
    const std::size_t n_good = rows_.n_good(), n_bad = rows_.n_bad();
    good_stride_ = n_words(n_good);
    suffixes_.resize(rows_.open_sides().size() * (n_good + 1) * good_stride_);
    blockers_.resize(rows_.open_sides().size() * n_bad);
    for (std::size_t k = 0; k < rows_.open_sides().size(); ++k) {
        const std::size_t side = rows_.open_sides()[k];
        Word* suffix = suffixes_.data() + k * (n_good + 1) * good_stride_;
        std::fill(suffix, suffix + good_stride_, 0);
        const auto order = rows_.order(side);
        // In steps of equal level: the good rows of a level block its bad ones.
        for (std::size_t end = order.size(); end > 0;) {
            const Level level = rows_.level(order[end - 1], side);
            if (level <= node.tight[side]) break;
            std::size_t begin = end;
            while (begin > 0 && rows_.level(order[begin - 1], side) == level) --begin;
            for (std::size_t m = begin; m < end; ++m) {
                const std::uint32_t i = order[m];
                if (i >= n_good) continue;
                std::copy(suffix, suffix + good_stride_, suffix + good_stride_);
                suffix += good_stride_;
                suffix[i / word_bits] |= Word{1} << (i % word_bits);
            }
            for (std::size_t m = begin; m < end; ++m)
                if (order[m] >= n_good) blockers_[k * n_bad + order[m] - n_good] = suffix;
            end = begin;
        }
    }
}

/// Finds good rows with some price left of which one goes if the bad row is cut off. Greedily: each
/// member is there for as many sides as possible. Sets: group.
bool RangeBound::find_group(std::size_t bad, const RangeNode& node) {
    group_.clear();
    candidates_ = unused_;
    bool is_first = true;
    for (std::size_t k = 0; k < rows_.open_sides().size(); ++k) {
        const std::size_t side = rows_.open_sides()[k];
        if (rows_.level(rows_.n_good() + bad, side) <= node.tight[side]) continue;
        const Word* blockers = blockers_[k * rows_.n_bad() + bad];
        Word any = 0;
        for (std::size_t w = 0; w < good_stride_; ++w)
            any |= next_[w] = candidates_[w] & blockers[w];
        if (any == 0) {
            if (is_first) return false;
            group_.push_back(first_of(candidates_));
            for (std::size_t w = 0; w < good_stride_; ++w)
                any |= next_[w] = unused_[w] & blockers[w];
            if (any == 0) return false;
        }
        std::swap(candidates_, next_);
        is_first = false;
    }
    group_.push_back(first_of(candidates_));
    return true;
}

Peak RangeBound::of_blocked_node(const RangeNode& node) {
    const std::size_t n_good = rows_.n_good();
    blocked_items_ = items_;
    const std::size_t n_blocker_words = rows_.open_sides().size() * (n_good + 1) * n_words(n_good);
    if (rows_.stride() > 0 && n_blocker_words <= most_words) {
        const double half = 0.5 * node.low_slope;
        const Balance& balance = payments_.balance();
        find_blockers(node);
        unused_.assign(good_stride_, 0);
        next_.resize(good_stride_);
        free_.assign(n_good, 0.0);
        item_of_.resize(n_good);
        for (std::uint32_t k = 0; k < items_.size(); ++k) {
            const std::uint32_t i = items_[k].good;
            item_of_[i] = k;
            free_[i] = items_[k].gradient - half * items_[k].hessian;
            if (free_[i] > 0.0) unused_[i / word_bits] |= Word{1} << (i % word_bits);
        }
        kept_ = free_;
        for (std::size_t w = 0; w < rows_.stride(); ++w) {
            for_each_bit(balance.open[w], w * word_bits, [&](std::size_t j) {
                block(j, half * balance.left_hessians[j] - balance.left_gradients[j], node);
            });
        }
    }
    return scan(blocked_items_, node.low_slope, node.high_slope);
}

void RangeBound::block(std::size_t bad, double price, const RangeNode& node) {
    while (price > 0.0 && find_group(bad, node)) {
        double lost = price;
        std::uint32_t last = group_.front();  // the member of least g/h
        for (const std::uint32_t i : group_) {
            lost = std::min(lost, free_[i]);
            if (item_of_[i] > item_of_[last]) last = i;
        }
        price -= lost;
        for (const std::uint32_t i : group_) {
            free_[i] -= lost;
            if (free_[i] <= 0.0) unused_[i / word_bits] &= ~(Word{1} << (i % word_bits));
        }
        Item& item = blocked_items_[item_of_[last]];
        const double rest = 1.0 - lost / kept_[last];
        item.gradient *= rest;
        item.hessian *= rest;
        kept_[last] -= lost;
    }
}

}  // namespace rulesearch

#include "librulesearch/ranges/bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace rulesearch::ranges {
namespace {

// Each of the few operations per optional row is off by half a unit in the last place at most.
constexpr double rounding_per_row = 4e-16;

// Sets of blockers of more gaining rows than this take more memory, in words, than they are worth.
constexpr std::size_t max_words = std::size_t{1} << 24;

// Small groups waste least of what their members are worth, so they come first.
constexpr std::size_t max_members[] = {2, 3, std::numeric_limits<std::size_t>::max()};

// Of so many items that could be members of a group, the one with most to lose is taken.
constexpr int n_tried_members = 4;

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

}  // namespace

/// Gaining rows that are worth more than what was set off against them.
void Bound::collect_items(const Balance& balance, double low_slope,
                          std::vector<Item>& items) const {
    items.clear();
    for (std::uint32_t gaining = 0; gaining < rows_.n_gaining(); ++gaining) {
        if (balance.price(gaining, low_slope) <= 0.0) continue;
        items.emplace_back(balance.gradients[gaining], balance.hessians[gaining], gaining);
    }
    std::sort(items.begin(), items.end());
}

Peak Bound::with_rounding(Peak peak) const {
    const double magnitude = peak.slope * (2.0 * sum_magnitudes_ + peak.slope * sum_hessians_);
    peak.bound +=
        rounding_per_row * (static_cast<double>(rows_.n_optional()) * magnitude + 4.0 * peak.bound);
    return peak;
}

Peak Bound::scan(std::span<const Item> items, double low_slope, double high_slope) const {
    PrefixPeak prefix(rows_.forced(), l2_regularization_, low_slope, high_slope);
    for (const Item& item : items) prefix.add(item);
    return with_rounding(prefix.peak());
}

Peak Bound::of_node(Node& node) {
    sum_magnitudes_ = sum_hessians_ = 0.0;
    for (std::size_t i = 0; i < rows_.n_optional(); ++i) {
        sum_magnitudes_ += std::fabs(rows_.statistics(i).gradient);
        sum_hessians_ += rows_.statistics(i).hessian;
    }
    items_slope_ = node.low_slope;
    main_slope_ = node.main_slope;
    offsets_.make(main_slope_, node.low_slope);
    collect_items(offsets_.balance(), node.low_slope, items_);
    const Peak peak = scan(items_, node.low_slope, node.high_slope);
    node.main_slope = peak.slope;
    return peak;
}

bool Bound::slopes_above(double value, Node& node) const {
    double low = node.high_slope, high = node.low_slope;
    double gradient = rows_.forced().gradient, hessian = rows_.forced().hessian;
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

double Bound::between(double low_slope, double high_slope) {
    if (low_slope <= items_slope_) return scan(items_, low_slope, high_slope).bound;
    other_offsets_.make(main_slope_, low_slope);
    collect_items(other_offsets_.balance(), low_slope, other_items_);
    return scan(other_items_, low_slope, high_slope).bound;
}

/// By chain, the items from the level of each costing row on that is not all set off.
void Bound::find_blockers() {
    const std::size_t n_gaining = rows_.n_gaining(), n_costing = rows_.n_costing();
    const std::vector<Word>& open = offsets_.balance().open;
    const std::size_t n_chains = rows_.open_chains().size();
    suffixes_.clear();
    blockers_.resize(n_chains * n_costing);
    for (std::size_t k = 0; k < n_chains; ++k) {
        const std::size_t chain = rows_.open_chains()[k];
        candidates_.assign(item_stride_, 0);
        const auto order = rows_.order(chain);
        // In steps of equal level: the gaining rows of a level block its costing ones.
        for (std::size_t end = order.size(), begin = end; end > 0; end = begin) {
            const Level level = rows_.level(order[end - 1], chain);
            if (level <= rows_.tight(chain)) break;
            for (; begin > 0 && rows_.level(order[begin - 1], chain) == level; --begin) {
                const std::uint32_t i = order[begin - 1];
                if (i < n_gaining && item_of_[i] != none) set_bit(candidates_, item_of_[i]);
            }
            bool is_stored = false;
            for (std::size_t m = begin; m < end; ++m) {
                if (order[m] < n_gaining) continue;
                const std::size_t costing = order[m] - n_gaining;
                if (!has_bit(open.data(), costing)) continue;
                if (!is_stored)
                    suffixes_.insert(suffixes_.end(), candidates_.begin(), candidates_.end());
                is_stored = true;
                blockers_[k * n_costing + costing] = suffixes_.size() - item_stride_;
            }
        }
    }
}

/// Of the first few candidates the one with most to lose.
std::uint32_t Bound::freest_candidate() const {
    std::uint32_t best = none;
    int n_tried = 0;
    for (std::size_t w = 0; w < item_stride_ && n_tried < n_tried_members; ++w) {
        for_each_bit(candidates_[w], w * word_bits, [&](std::size_t k) {
            if (n_tried++ >= n_tried_members) return;
            if (best == none || free_[k] > free_[best]) best = static_cast<std::uint32_t>(k);
        });
    }
    return best;
}

/// Finds items with something to lose of which one goes if the costing row is cut off. Greedily:
/// each member is there for as many chains in a row as possible. Sets: group.
bool Bound::find_group(std::size_t costing, std::size_t max_size) {
    group_.clear();
    candidates_ = unused_;
    bool is_first = true;
    for (std::size_t k = 0; k < rows_.open_chains().size(); ++k) {
        const std::size_t chain = rows_.open_chains()[k];
        if (rows_.level(rows_.n_gaining() + costing, chain) <= rows_.tight(chain)) continue;
        const Word* blockers = suffixes_.data() + blockers_[k * rows_.n_costing() + costing];
        const auto is_blocker = [&](std::uint32_t item) { return has_bit(blockers, item); };
        if (std::any_of(group_.begin(), group_.end(), is_blocker)) continue;
        if (intersect(candidates_.data(), blockers, next_.data(), item_stride_) == 0) {
            if (is_first) return false;
            group_.push_back(freest_candidate());
            if (group_.size() >= max_size) return false;
            if (intersect(unused_.data(), blockers, next_.data(), item_stride_) == 0) return false;
        }
        std::swap(candidates_, next_);
        is_first = false;
    }
    group_.push_back(freest_candidate());
    return true;
}

double Bound::of_blocked_node(const Node& node) {
    const Balance& balance = offsets_.balance();
    all_.clear();
    item_of_.assign(rows_.n_gaining(), none);
    for (std::uint32_t k = 0; k < items_.size(); ++k) {
        all_.push_back(price(items_[k].gradient, items_[k].hessian, node.low_slope));
        item_of_[items_[k].row] = k;
    }
    free_ = kept_ = all_;
    costs_.resize(rows_.n_costing());
    for (std::size_t j = 0; j < rows_.n_costing(); ++j) costs_[j] = balance.cost(j, node.low_slope);
    left_ = costs_;
    std::size_t n_open = 0;
    for (const Word word : balance.open) n_open += static_cast<std::size_t>(std::popcount(word));
    item_stride_ = padded(n_words(items_.size()));
    if (n_open > 0 && rows_.open_chains().size() * n_open * item_stride_ <= max_words) block_all();
    blocked_items_ = items_;
    for (std::size_t k = 0; k < items_.size(); ++k) {
        blocked_items_[k].gradient *= kept_[k] / all_[k];
        blocked_items_[k].hessian *= kept_[k] / all_[k];
    }
    return scan(blocked_items_, node.low_slope, node.high_slope).bound;
}

void Bound::block_all() {
    unused_.assign(item_stride_, 0);
    next_.resize(item_stride_);
    for (std::uint32_t k = 0; k < items_.size(); ++k) set_bit(unused_, k);
    find_blockers();
    const std::vector<Word>& open = offsets_.balance().open;
    for (const std::size_t max_size : max_members) {
        for (std::size_t w = 0; w < open.size(); ++w)
            for_each_bit(open[w], w * word_bits, [&](std::size_t j) { block(j, max_size); });
    }
}

void Bound::block(std::size_t costing, std::size_t max_size) {
    while (left_[costing] > 0.0 && find_group(costing, max_size)) {
        double lost = left_[costing];
        std::uint32_t last = 0;  // the member of least g/h
        for (const std::uint32_t k : group_) {
            lost = std::min(lost, free_[k]);
            last = std::max(last, k);
        }
        left_[costing] -= lost;
        kept_[last] -= lost;
        for (const std::uint32_t k : group_) {
            free_[k] -= lost;
            if (free_[k] <= 0.0) clear_bit(unused_, k);
        }
    }
}

void Bound::min_losses(const Node& node, bool is_blocked, std::vector<double>& gaining_losses,
                       std::vector<double>& costing_losses) const {
    const double low = node.low_slope, high = node.high_slope;
    gaining_losses.assign(rows_.n_gaining(), 0.0);
    for (std::size_t k = 0; k < items_.size(); ++k) {
        const Item& item = items_[k];
        // Concave in the slope.
        const double loss = std::min(worth(item.gradient, item.hessian, low),
                                     worth(item.gradient, item.hessian, high));
        gaining_losses[item.row] = std::max(0.0, loss) * (is_blocked ? free_[k] / all_[k] : 1.0);
    }
    costing_losses.assign(rows_.n_costing(), 0.0);
    const Balance& balance = offsets_.balance();
    for (std::size_t j = 0; j < rows_.n_costing(); ++j) {
        if (costs_[j] <= 0.0) continue;
        // From the lowest slope on, a costing row costs the more the larger the slope is.
        const double loss = low * balance.cost(j, low);
        costing_losses[j] = std::max(0.0, loss) * (is_blocked ? left_[j] / costs_[j] : 1.0);
    }
}

}  // namespace rulesearch::ranges

#include "librulesearch/ranges/node_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace rulesearch::ranges {
namespace {

constexpr Level nowhere = std::numeric_limits<Level>::max();

// Implications among more rows than this take more memory, in words, than they are worth.
constexpr std::size_t most_words = std::size_t{1} << 24;

bool is_within(const Level* levels, const std::vector<Level>& cuts) {
    bool is_inside = true;
    for (std::size_t side = 0; side < cuts.size(); ++side) is_inside &= levels[side] <= cuts[side];
    return is_inside;
}

bool is_good(const Statistics& row, const Node& node) {
    return row.gradient > 0.5 * node.low_slope * row.hessian;
}

/// Whether boxes are worth more without the row, by more than rounding.
bool is_worse_than_none(const Statistics& row, const Node& node) {
    const double cost = 0.5 * node.low_slope * row.hessian;
    return row.gradient - cost < -1e-9 * (std::fabs(row.gradient) + cost);
}

/// Takes one more side into account. `up_to`: rows that are not beyond on it; `none`, `one`: those
/// beyond on none and on one side. Returns a word that is 0 if both are empty.
Word beyond_one_more(const Word* up_to, Word* __restrict none, Word* __restrict one,
                     std::size_t stride) {
    Word any = 0;
    for (std::size_t w = 0; w < stride; w += block_words) {
        for (std::size_t k = w; k < w + block_words; ++k) {
            one[k] = (one[k] & up_to[k]) | (none[k] & ~up_to[k]);
            none[k] &= up_to[k];
            any |= one[k] | none[k];
        }
    }
    return any;
}

}  // namespace

bool NodeRows::assign(const SignedRows& rows, const Goal& goal, Node& node) {
    if (!close(rows, goal, node)) return false;
    sort_rows(rows, node);
    find_implied();
    return true;
}

void NodeRows::find_live(const SignedRows& rows, const Node& node) {
    cut_sides_.clear();
    for (std::uint32_t side = 0; side < sides_.n_sides(); ++side)
        if (node.loose[side] < sides_.top(side)) cut_sides_.push_back(side);
    live_.clear();
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
        const Level* levels = rows.levels(row);
        const bool is_live = std::all_of(cut_sides_.begin(), cut_sides_.end(), [&](auto side) {
            return levels[side] <= node.loose[side];
        });
        if (is_live) live_.push_back(row);
    }
}

/// Moves the ends of all ranges to levels that a live row has, a good one if only those can be the
/// outermost. An undecided side stays open at the top.
bool NodeRows::close(const SignedRows& rows, const Goal& goal, Node& node) {
    const std::size_t n_sides = sides_.n_sides();
    if (goal.is_limited) {
        std::size_t n_cut = 0;
        for (std::size_t side = 0; side < n_sides; ++side)
            n_cut += node.loose[side] < sides_.top(side);
        if (n_cut > goal.max_cuts) return false;
        for (std::size_t side = 0; n_cut == goal.max_cuts && side < n_sides; ++side)
            if (node.loose[side] == sides_.top(side)) node.tight[side] = sides_.top(side);
    }
    find_live(rows, node);
    for (bool is_closed = false; !is_closed;) {
        is_closed = true;
        highest_.assign(n_sides, 0);
        lowest_.assign(n_sides, nowhere);
        double coverage = 0.0;
        bool is_empty = true;
        for (const std::uint32_t row : live_) {
            coverage += rows.statistics(row).coverage;
            if (goal.has_good_faces() && is_worse_than_none(rows.statistics(row), node)) continue;
            is_empty = false;
            const Level* levels = rows.levels(row);
            for (std::size_t side = 0; side < n_sides; ++side) {
                highest_[side] = std::max(highest_[side], levels[side]);
                const Level level = levels[side] < node.tight[side] ? nowhere : levels[side];
                lowest_[side] = std::min(lowest_[side], level);
            }
        }
        if (is_empty || coverage < goal.min_coverage) return false;
        for (std::size_t side = 0; side < n_sides; ++side) {
            const bool is_undecided = goal.is_limited && node.loose[side] == sides_.top(side);
            if (is_undecided) {
                node.tight[side] = std::min(lowest_[side], sides_.top(side));
                continue;
            }
            if (lowest_[side] == nowhere) return false;
            node.tight[side] = lowest_[side];
            if (highest_[side] == node.loose[side]) continue;
            node.loose[side] = highest_[side];
            is_closed = false;
        }
        if (is_closed) break;
        const auto is_dead = [&](std::uint32_t row) {
            return !is_within(rows.levels(row), node.loose);
        };
        live_.erase(std::remove_if(live_.begin(), live_.end(), is_dead), live_.end());
    }
    return true;
}

void NodeRows::sort_rows(const SignedRows& rows, const Node& node) {
    const std::size_t n_sides = sides_.n_sides();
    tight_ = node.tight;
    mandatory_ = {};
    statistics_.clear();
    bad_rows_.clear();
    number_.assign(rows.size(), -1);
    std::vector<std::uint32_t>& optional = live_;  // compacted in place, good ones first
    std::size_t n_good = 0;
    for (const std::uint32_t row : live_) {
        if (is_within(rows.levels(row), node.tight)) {
            mandatory_ += rows.statistics(row);
        } else if (is_good(rows.statistics(row), node)) {
            optional[n_good++] = row;
        } else {
            bad_rows_.push_back(row);
        }
    }
    optional.resize(n_good);
    optional.insert(optional.end(), bad_rows_.begin(), bad_rows_.end());
    n_good_ = n_good;
    n_bad_ = bad_rows_.size();
    const std::size_t n = n_optional();
    levels_.resize(n_sides * n);
    n_outside_.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
        number_[optional[i]] = static_cast<std::int32_t>(i);
        statistics_.push_back(rows.statistics(optional[i]));
    }
    open_sides_.clear();
    order_.resize(n_sides * n);
    for (std::uint32_t side = 0; side < n_sides; ++side) {
        if (node.tight[side] == node.loose[side]) continue;
        open_sides_.push_back(side);
        const std::uint32_t* order = rows.order(side);
        std::uint32_t* out = order_.data() + side * n;
        std::size_t count = 0;
        for (std::size_t k = 0; k < rows.size() && count < n; ++k) {
            const std::int32_t number = number_[order[k]];
            out[count] = static_cast<std::uint32_t>(number);
            count += number >= 0;
        }
        Level* level = levels_.data() + side * n;
        for (std::size_t i = 0; i < n; ++i) {
            level[i] = rows.levels(optional[i])[side];
            n_outside_[i] += level[i] > node.tight[side];
        }
    }
}

void NodeRows::find_implied() {
    stride_ = padded(n_words(n_bad_));
    if (n_good_ * stride_ > most_words) stride_ = 0;
    all_.assign(stride_, 0);
    for (std::size_t j = 0; j < n_bad_ && stride_ > 0; ++j) set_bit(all_, j);
    implied_.clear();
    for (std::size_t i = 0; i < n_good_; ++i)
        implied_.insert(implied_.end(), all_.begin(), all_.end());
    nearly_.assign(n_good_ * stride_, 0);
    n_implied_.assign(n_good_, 0);
    if (stride_ == 0) return;
    // `nearly_` holds rows that are beyond on one side so far, `implied_` those on none.
    is_alone_.assign(n_good_, 0);
    const auto keep = [&](std::size_t good) {
        is_alone_[good] = beyond_one_more(up_to_.data(), implied_.data() + good * stride_,
                                          nearly_.data() + good * stride_, stride_) == 0;
    };
    for (const std::uint32_t side : open_sides_) {
        up_to_.assign(stride_, 0);
        const auto order = this->order(side);
        // In steps of equal level, all up to the tightest cut being one of them.
        for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
            const Level reach = std::max(level(order[begin], side), tight_[side]);
            for (; end < order.size() && level(order[end], side) <= reach; ++end) {
                if (order[end] < n_good_) continue;
                set_bit(up_to_, order[end] - n_good_);
            }
            for (std::size_t k = begin; k < end; ++k)
                if (order[k] < n_good_ && is_alone_[order[k]] == 0) keep(order[k]);
        }
    }
    for (std::size_t i = 0; i < n_good_; ++i) {
        if (is_alone_[i] != 0) continue;
        for (std::size_t w = 0; w < stride_; ++w)
            n_implied_[i] += static_cast<std::uint32_t>(std::popcount(implied(i)[w]));
    }
}

Statistics NodeRows::sum(const SignedRows& rows, const std::vector<Level>& cuts) const {
    Statistics sums = mandatory_;
    for (const std::uint32_t row : live_)
        if (is_within(rows.levels(row), cuts)) sums += rows.statistics(row);
    return sums;
}

}  // namespace rulesearch::ranges

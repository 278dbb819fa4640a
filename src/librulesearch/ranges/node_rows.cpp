#include "librulesearch/ranges/node_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace rulesearch::ranges {
namespace {

constexpr Level nowhere = std::numeric_limits<Level>::max();

// Implications among more rows than this take more memory, in words, than they are worth.
constexpr std::size_t max_words = std::size_t{1} << 24;

bool is_within(const Level* levels, const std::vector<Level>& cuts) {
    bool is_inside = true;
    for (std::size_t chain = 0; chain < cuts.size(); ++chain)
        is_inside &= levels[chain] <= cuts[chain];
    return is_inside;
}

bool is_gaining(const Statistics& row, const Node& node) {
    return price(row.gradient, row.hessian, node.low_slope) > 0.0;
}

/// Whether boxes are worth more without the row, by more than rounding: that of its price, and that
/// of their values, which a row of small hessian does not change where the regularisation is large.
bool is_worse_than_none(const Statistics& row, const Goal& goal, const Node& node) {
    const double cost = -price(row.gradient, row.hessian, node.low_slope);
    const double slack = 1e-9 * (2.0 * std::fabs(row.gradient) + node.low_slope * row.hessian);
    return cost > slack && node.low_slope * cost >= rounding_slack * goal.value;
}

/// Takes one more chain into account. `up_to`: rows that are not beyond on it; `none`, `one`: those
/// beyond on none and on one chain. Returns a word that is 0 if both are empty.
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
    cut_chains_.clear();
    for (std::uint32_t chain = 0; chain < chains_.n_chains(); ++chain)
        if (node.loose[chain] < chains_.top(chain)) cut_chains_.push_back(chain);
    live_.clear();
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
        const Level* levels = rows.levels(row);
        const bool is_live = std::all_of(cut_chains_.begin(), cut_chains_.end(), [&](auto chain) {
            return levels[chain] <= node.loose[chain];
        });
        if (is_live) live_.push_back(row);
    }
}

/// Moves the ends of all ranges to levels that a live row has, a gaining one if only those can be
/// the outermost. An undecided chain stays open at the top.
bool NodeRows::close(const SignedRows& rows, const Goal& goal, Node& node) {
    const std::size_t n_chains = chains_.n_chains();
    if (goal.is_limited) {
        const std::size_t n_cut = chains_.n_cuts(node.loose);
        if (n_cut > goal.max_cuts) return false;
        for (std::size_t chain = 0; n_cut == goal.max_cuts && chain < n_chains; ++chain)
            if (node.loose[chain] == chains_.top(chain)) node.tight[chain] = chains_.top(chain);
    }
    find_live(rows, node);
    for (bool is_closed = false; !is_closed;) {
        is_closed = true;
        highest_.assign(n_chains, 0);
        lowest_.assign(n_chains, nowhere);
        double coverage = 0.0;
        bool is_empty = true;
        for (const std::uint32_t row : live_) {
            coverage += rows.statistics(row).coverage;
            if (goal.has_gaining_faces() && is_worse_than_none(rows.statistics(row), goal, node))
                continue;
            is_empty = false;
            const Level* levels = rows.levels(row);
            for (std::size_t chain = 0; chain < n_chains; ++chain) {
                highest_[chain] = std::max(highest_[chain], levels[chain]);
                const Level level = levels[chain] < node.tight[chain] ? nowhere : levels[chain];
                lowest_[chain] = std::min(lowest_[chain], level);
            }
        }
        if (is_empty || coverage < goal.min_coverage) return false;
        for (std::size_t chain = 0; chain < n_chains; ++chain) {
            const bool is_undecided = goal.is_limited && node.loose[chain] == chains_.top(chain);
            if (is_undecided) {
                node.tight[chain] = std::min(lowest_[chain], chains_.top(chain));
                continue;
            }
            if (lowest_[chain] == nowhere) return false;
            node.tight[chain] = lowest_[chain];
            if (highest_[chain] == node.loose[chain]) continue;
            node.loose[chain] = highest_[chain];
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
    const std::size_t n_chains = chains_.n_chains();
    tight_ = node.tight;
    forced_ = {};
    statistics_.clear();
    costing_rows_.clear();
    number_.assign(rows.size(), -1);
    std::vector<std::uint32_t>& optional = live_;  // compacted in place, gaining ones first
    std::size_t n_gaining = 0;
    for (const std::uint32_t row : live_) {
        if (is_within(rows.levels(row), node.tight)) {
            forced_ += rows.statistics(row);
        } else if (is_gaining(rows.statistics(row), node)) {
            optional[n_gaining++] = row;
        } else {
            costing_rows_.push_back(row);
        }
    }
    optional.resize(n_gaining);
    optional.insert(optional.end(), costing_rows_.begin(), costing_rows_.end());
    n_gaining_ = n_gaining;
    n_costing_ = costing_rows_.size();
    const std::size_t n = n_optional();
    levels_.resize(n_chains * n);
    n_outside_.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
        number_[optional[i]] = static_cast<std::int32_t>(i);
        statistics_.push_back(rows.statistics(optional[i]));
    }
    open_chains_.clear();
    order_.resize(n_chains * n);
    for (std::uint32_t chain = 0; chain < n_chains; ++chain) {
        if (node.tight[chain] == node.loose[chain]) continue;
        open_chains_.push_back(chain);
        const std::uint32_t* order = rows.order(chain);
        std::uint32_t* out = order_.data() + chain * n;
        std::size_t count = 0;
        for (std::size_t k = 0; k < rows.size() && count < n; ++k) {
            const std::int32_t number = number_[order[k]];
            out[count] = static_cast<std::uint32_t>(number);
            count += number >= 0;
        }
        Level* level = levels_.data() + chain * n;
        for (std::size_t i = 0; i < n; ++i) {
            level[i] = rows.levels(optional[i])[chain];
            n_outside_[i] += level[i] > node.tight[chain];
        }
    }
}

void NodeRows::find_implied() {
    stride_ = padded(n_words(n_costing_));
    if (n_gaining_ * stride_ > max_words) stride_ = 0;
    all_.assign(stride_, 0);
    for (std::size_t j = 0; j < n_costing_ && stride_ > 0; ++j) set_bit(all_, j);
    implied_.clear();
    for (std::size_t i = 0; i < n_gaining_; ++i)
        implied_.insert(implied_.end(), all_.begin(), all_.end());
    nearly_.assign(n_gaining_ * stride_, 0);
    n_implied_.assign(n_gaining_, 0);
    if (stride_ == 0) return;
    // `nearly_` holds rows that are beyond on one chain so far, `implied_` those on none.
    is_alone_.assign(n_gaining_, 0);
    const auto keep = [&](std::size_t gaining) {
        is_alone_[gaining] = beyond_one_more(up_to_.data(), implied_.data() + gaining * stride_,
                                             nearly_.data() + gaining * stride_, stride_) == 0;
    };
    for (const std::uint32_t chain : open_chains_) {
        up_to_.assign(stride_, 0);
        const auto order = this->order(chain);
        // In steps of equal level, all up to the tightest cut being one of them.
        for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
            const Level reach = std::max(level(order[begin], chain), tight_[chain]);
            for (; end < order.size() && level(order[end], chain) <= reach; ++end) {
                if (order[end] < n_gaining_) continue;
                set_bit(up_to_, order[end] - n_gaining_);
            }
            for (std::size_t k = begin; k < end; ++k)
                if (order[k] < n_gaining_ && is_alone_[order[k]] == 0) keep(order[k]);
        }
    }
    for (std::size_t i = 0; i < n_gaining_; ++i) {
        if (is_alone_[i] != 0) continue;
        for (std::size_t w = 0; w < stride_; ++w)
            n_implied_[i] += static_cast<std::uint32_t>(std::popcount(implied(i)[w]));
    }
}

Statistics NodeRows::sum(const SignedRows& rows, const std::vector<Level>& cuts) const {
    Statistics sums = forced_;
    for (const std::uint32_t row : live_)
        if (is_within(rows.levels(row), cuts)) sums += rows.statistics(row);
    return sums;
}

}  // namespace rulesearch::ranges

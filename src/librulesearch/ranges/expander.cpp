#include "librulesearch/ranges/expander.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rulesearch::ranges {
namespace {

// More chains than this to choose from cost more than the better choice saves.
constexpr std::size_t max_tried = 14;

// A node is narrowed a second time, in which the first one's results help; more is worth it at the
// root.
constexpr int n_rounds = 2;
constexpr int n_rounds_of_root = 6;

// A climb from the box that makes a node's bound costs a fraction of a node.
constexpr std::uint64_t nodes_per_climb = 8;

// Where a range is split: a little more than half of the loss below seems best.
constexpr double lost_share = 0.57;

// Slopes closer than this are not distinguished further.
constexpr double min_slope_range = 1.02;

/// Roots one by one: the product of two slopes may be beyond the range of doubles.
double middle_slope(const Node& node) {
    return std::sqrt(node.low_slope) * std::sqrt(node.high_slope);
}

}  // namespace

Expansion Expander::expand(Node node, const Goal& goal, const Interrupt& interrupt) {
    Expansion expansion;
    while (narrow(node, goal, expansion)) {
        if (interrupt.is_requested()) return expansion;
        offer(node, goal, expansion);
        if (rows_.open_chains().empty()) {
            expansion.tied.push_back(node);  // the box itself was offered
            break;
        }
        if (branch(node, goal, interrupt, expansion)) break;
    }
    expansion.is_complete = !interrupt.is_requested();
    return expansion;
}

bool Expander::is_given_up(const Node& node, const Goal& goal, Expansion& expansion) const {
    ++expansion.counters.n_evaluations;
    if (goal.is_wanted(node.bound)) return false;
    ++expansion.counters.bound_immediate;
    expansion.note_pruned(goal.unproven(node.bound));
    if (node.bound >= goal.tie_threshold) expansion.tied.push_back(node);
    return true;
}

/// Closes the ranges, bounds what is in them, and draws conclusions from the bound. False if
/// nothing wanted is left.
bool Expander::narrow(Node& node, const Goal& goal, Expansion& expansion) {
    const bool is_root = node.promises.empty();
    node.promises.resize(chains_.n_chains(), 1.0F);
    const int max_rounds = is_root ? n_rounds_of_root : n_rounds;
    for (int round = 0; round < max_rounds; ++round) {
        if (!rows_.assign(signed_rows(node), goal, node)) return false;
        peak_ = bound_.of_node(node);
        node.bound = std::min(node.bound, peak_.bound);
        if (is_given_up(node, goal, expansion)) return false;
        blocked_bound_ = bound_.of_blocked_node(node);
        node.bound = std::min(node.bound, blocked_bound_);
        if (is_given_up(node, goal, expansion)) return false;
        const double low_slope = node.low_slope, high_slope = node.high_slope;
        if (!bound_.slopes_above(goal.value, node)) return false;
        const bool has_new_ranges = tighten(node, goal);
        for (const std::size_t chain : rows_.open_chains())
            if (node.tight[chain] > node.loose[chain]) return false;
        const bool is_narrower = has_new_ranges || node.low_slope > 1.001 * low_slope ||
                                 node.high_slope < 0.999 * high_slope;
        if (!is_narrower) break;
    }
    return true;
}

/// A cut that loses more than lies between the bound and the goal is too tight, or too loose. By
/// both relaxations: with blocked rows there is less between, but also less to lose.
bool Expander::tighten(Node& node, const Goal& goal) {
    bool is_narrower = false;
    for (const bool is_blocked : {false, true}) {
        const double gap = (is_blocked ? blocked_bound_ : peak_.bound) - goal.value;
        bound_.min_losses(node, is_blocked, gaining_losses_, costing_losses_);
        // The bound has room for its own rounding; the billionth part is for that of the losses.
        is_narrower |= tighten_by_losses(gap * (1.0 + 1e-9), node);
    }
    return is_narrower;
}

/// Every box that is cut below a level loses the gaining rows from that level on; every box that is
/// cut at a level or above covers the costing rows up to it that only this chain can cut off.
bool Expander::tighten_by_losses(double gap, Node& node) const {
    const double max_lost = std::accumulate(gaining_losses_.begin(), gaining_losses_.end(), 0.0);
    const double max_covered = std::accumulate(costing_losses_.begin(), costing_losses_.end(), 0.0);
    bool is_narrower = false;
    for (const std::size_t chain : rows_.open_chains()) {
        const auto order = rows_.order(chain);
        double lost = 0.0;
        for (std::size_t k = order.size(); k-- > 0 && max_lost > gap;) {
            const Level level = rows_.level(order[k], chain);
            if (level <= node.tight[chain]) break;
            if (order[k] < rows_.n_gaining()) lost += gaining_losses_[order[k]];
            if (lost <= gap) continue;
            node.tight[chain] = level;
            is_narrower = true;
            break;
        }
        if (max_covered <= gap) continue;
        lost = 0.0;
        for (const std::uint32_t i : order) {
            const Level level = rows_.level(i, chain);
            if (level > node.loose[chain]) break;
            if (i < rows_.n_gaining() || level <= rows_.tight(chain) || rows_.n_outside(i) > 1)
                continue;
            lost += costing_losses_[i - rows_.n_gaining()];
            if (lost <= gap) continue;
            node.loose[chain] = level - 1;
            is_narrower = true;
            break;
        }
    }
    return is_narrower;
}

/// Offers the box around the forced rows and those that make the bound.
void Expander::offer(const Node& node, const Goal& goal, Expansion& expansion) {
    const SignedRows& rows = signed_rows(node);
    const bool is_leaf = rows_.open_chains().empty();
    if (goal.settles_ties && !is_leaf) return;
    std::vector<Level> cuts = node.tight;
    for (const Item& item : bound_.items().first(peak_.n_items))
        for (const std::size_t chain : rows_.open_chains())
            cuts[chain] = std::max(cuts[chain], rows_.level(item.row, chain));
    std::size_t n_cuts = 0;
    for (std::size_t chain = 0; chain < chains_.n_chains() && goal.is_limited; ++chain) {
        if (node.loose[chain] == chains_.top(chain)) cuts[chain] = chains_.top(chain);
        n_cuts += cuts[chain] < chains_.top(chain);
    }
    if (n_cuts > goal.max_cuts) return;
    if (!goal.settles_ties && node.number % nodes_per_climb == 0) {
        Offer better = local_search_.climb(cuts);
        if (better.value > goal.value) expansion.offers.push_back(std::move(better));
        return;
    }
    const Statistics sums = rows_.sum(rows, cuts);
    const double value =
        problem_.value(node.is_negative ? -sums.gradient : sums.gradient, sums.hessian);
    if (sums.coverage < goal.min_coverage || value < goal.value) return;
    if (goal.settles_ties || value > goal.value)
        expansion.offers.push_back({value, std::move(cuts)});
}

/// Chains that can be split, those that promise most.
std::vector<std::size_t> Expander::promising_chains(const Node& node) const {
    std::vector<std::size_t> chains;
    for (const std::size_t chain : rows_.open_chains())
        if (node.tight[chain] < node.loose[chain]) chains.push_back(chain);
    if (chains.size() <= max_tried) return chains;
    std::stable_sort(chains.begin(), chains.end(), [&](std::size_t a, std::size_t b) {
        return node.promises[a] > node.promises[b];
    });
    // Equal promises at the root mean that nothing is known yet.
    const float last = node.promises[chains[max_tried - 1]];
    while (chains.size() > max_tried && node.promises[chains.back()] < last) chains.pop_back();
    return chains;
}

/// The level below which a cut loses a good part of what it may lose, or of all it can.
Level Expander::split_level(const Node& node, std::size_t chain, double gap) const {
    const auto order = rows_.order(chain);
    std::size_t end = order.size();
    while (end > 0 && rows_.level(order[end - 1], chain) > node.loose[chain]) --end;
    std::size_t begin = end;
    double sum = 0.0;
    while (begin > 0 && rows_.level(order[begin - 1], chain) > node.tight[chain]) {
        --begin;
        if (order[begin] < rows_.n_gaining()) sum += worths_[order[begin]];
    }
    if (begin == end) return node.loose[chain];
    if (sum == 0.0) return rows_.level(order[begin + (end - begin) / 2], chain);
    double lost = 0.0;
    std::size_t k = end;
    while (k > begin && lost < lost_share * std::min(gap, sum)) {
        --k;
        if (order[k] < rows_.n_gaining()) lost += worths_[order[k]];
    }
    return rows_.level(order[k], chain);
}

/// Tries to split each of the promising chains, and the slopes. A part that is given up narrows the
/// node to the other; if there was none, the node is split where both parts gain most. True if the
/// node is done with.
bool Expander::branch(Node& node, const Goal& goal, const Interrupt& interrupt,
                      Expansion& expansion) {
    const double reference = bound_.between(node.low_slope, node.high_slope);
    node.bound = std::min(node.bound, reference);
    if (is_given_up(node, goal, expansion)) return true;
    const double gap = std::max(reference - goal.value, 1e-9 * reference);
    worths_.assign(rows_.n_gaining(), 0.0);
    for (const Item& item : bound_.items())
        worths_[item.row] = std::max(0.0, worth(item.gradient, item.hessian, peak_.slope));
    // Not a number where bounds are infinite, as at slopes whose squares are: some split is made.
    const auto gain = [&](double bound) {
        const double share = (reference - bound) / gap;
        return share > 1e-3 ? std::min(share, 1.0) : 1e-3;
    };
    std::vector<Split> splits;
    for (const std::size_t chain : promising_chains(node))
        splits.push_back({chain, split_level(node, chain, gap)});
    if (node.low_slope > 0.0 && node.high_slope > min_slope_range * node.low_slope)
        splits.push_back({chains_.n_chains(), 0});
    double best_promise = -1.0;
    std::vector<Node> best;
    bool is_narrower = false;
    for (const Split& split : splits) {
        if (interrupt.is_requested()) return true;
        Node above = part_above(node, split), below = part_below(node, split);
        const auto [bound_above, bound_below] = bounds_of_parts(node, split, above, below);
        above.bound = std::min(above.bound, bound_above);
        below.bound = std::min(below.bound, bound_below);
        // The node's own bound may come from a stronger argument: the reference is of this kind.
        const double promise = gain(bound_above) * gain(bound_below);
        if (split.chain < chains_.n_chains())
            node.promises[split.chain] = static_cast<float>(promise);
        const bool is_above_pruned = is_given_up(above, goal, expansion);
        const bool is_below_pruned = is_given_up(below, goal, expansion);
        if (is_above_pruned && is_below_pruned) return true;
        if (is_above_pruned || is_below_pruned) {
            below.promises = above.promises = node.promises;
            node = is_above_pruned ? std::move(below) : std::move(above);
            is_narrower = true;
        } else if (promise > best_promise) {
            best_promise = promise;
            best = {std::move(above), std::move(below)};
        }
    }
    // Where all chains are decided by now, the ranges are closed first.
    if (is_narrower || best.empty()) return false;
    for (Node& part : best) {
        part.promises = node.promises;
        expansion.children.push_back(std::move(part));
    }
    return true;
}

/// Bounds of both parts from the rows of the node at hand.
std::pair<double, double> Expander::bounds_of_parts(const Node& node, const Split& split,
                                                    const Node& above, const Node& below) {
    if (split.chain == chains_.n_chains())
        return {bound_.between(above.low_slope, above.high_slope),
                bound_.between(below.low_slope, below.high_slope)};
    return {bound_.at_or_above(node, split.chain, split.level),
            bound_.below(node, split.chain, split.level)};
}

Node Expander::part_above(const Node& node, const Split& split) const {
    Node part = node;
    if (split.chain < chains_.n_chains()) {
        part.tight[split.chain] = split.level;
    } else {
        part.low_slope = middle_slope(node);
    }
    return part;
}

Node Expander::part_below(const Node& node, const Split& split) const {
    Node part = node;
    if (split.chain < chains_.n_chains()) {
        part.loose[split.chain] = split.level - 1;
    } else {
        part.high_slope = middle_slope(node);
    }
    return part;
}

}  // namespace rulesearch::ranges

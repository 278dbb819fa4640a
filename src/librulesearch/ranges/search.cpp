#include "librulesearch/ranges/search.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "librulesearch/conditions/node.hpp"
#include "librulesearch/engine/control.hpp"
#include "librulesearch/engine/workers.hpp"
#include "librulesearch/problem/incumbent.hpp"
#include "librulesearch/problem/ratio_order.hpp"
#include "librulesearch/ranges/expander.hpp"
#include "librulesearch/ranges/local_search.hpp"
#include "librulesearch/ranges/range_boundary.hpp"

namespace rulesearch {
namespace {

// Bounds are sums of many prices: those that are above the incumbent by no more than this may be
// ties, and are looked at when the rest is proven. Values that far below it are not wanted.
constexpr double value_slack = 1e-11;

// Nodes that may be spent on ties, in proportion to those of the proof and at least: where ties are
// countless, one of them is as good as another.
constexpr std::uint64_t tie_nodes_per_node = 1;
constexpr std::uint64_t least_tie_nodes = 1000;

class RangeSearch {
  public:
    RangeSearch(const Problem& problem, const Limits& limits, const OptimalOptions& options)
        : problem_(problem),
          limits_(limits),
          options_(options),
          control_(limits),
          workers_(options.n_workers),
          sides_(problem.propositions),
          positive_(problem, sides_, false),
          negative_(problem, sides_, true),
          ascent_(problem, sides_, positive_, limits),
          incumbent_(problem.propositions),
          boundary_(options.memory_limit) {
        for (std::size_t worker = 0; worker < options.n_workers; ++worker)
            expanders_.push_back(
                std::make_unique<RangeExpander>(problem, limits, sides_, positive_, negative_));
    }

    Result solve() {
        incumbent_.offer(problem_.value(problem_.total()), {});
        if (limits_.max_conditions > 0 && sides_.n_sides() > 0) {
            start();
            run(limits_.node_limit);
            if (is_proven() && limits_.approximation_factor == 1.0) settle_ties();
        }
        return result();
    }

  private:
    /// What the proof asks for: one box better than the incumbent, if there is any.
    RangeGoal goal() const {
        RangeGoal goal;
        const double value = incumbent_.value();
        const double factor = limits_.approximation_factor;
        goal.value = value * (1.0 - value_slack);
        goal.threshold =
            factor < 1.0 ? value / factor * (1.0 - 1e-15) : value * (1.0 + value_slack);
        goal.threshold = std::max(goal.threshold, std::numeric_limits<double>::min());
        goal.max_cuts = std::min(limits_.max_conditions, sides_.n_sides());
        goal.is_limited = goal.max_cuts < sides_.n_sides();
        goal.min_coverage = limits_.min_coverage;
        goal.tie_threshold = value * (1.0 - rounding_slack);
        if (settles_ties_) {
            goal.settles_ties = true;
            goal.threshold = goal.tie_threshold;
        }
        return goal;
    }

    /// Sets: a first incumbent and the roots, all boxes of either sign.
    void start() {
        const double bound = std::max(incumbent_.value(), bound_of_all_rows(problem_));
        progress_ = {incumbent_.value(), bound, 0, 1, false};
        if (options_.beam_width > 0) {
            const RangeOffer best = ascent_.climb_from_everywhere({control_, &progress_});
            incumbent_.offer(best.value, sides_.query(best.cuts));
        }
        push_roots(bound);
    }

    void push_roots(double bound) {
        const double value = goal().value;
        for (const bool is_negative : {false, true}) {
            const SignedRows& rows = is_negative ? negative_ : positive_;
            if (rows.sum_gains() <= 0.0) continue;
            RangeNode root;
            root.bound = bound;
            root.is_negative = is_negative;
            root.low_slope = value / rows.sum_gains() * (1.0 - rounding_slack);
            root.high_slope = rows.steepest_slope() * (1.0 + rounding_slack);
            if (root.low_slope > root.high_slope) continue;  // no box of this sign is worth as much
            root.tight.assign(sides_.n_sides(), 0);
            for (std::size_t side = 0; side < sides_.n_sides(); ++side)
                root.loose.push_back(sides_.top(side));
            push(std::move(root));
        }
    }

    void push(RangeNode node) {
        node.number = n_pushed_++;
        boundary_.push(std::move(node));
    }

    void run(std::uint64_t node_limit) {
        while (!boundary_.empty() && !control_.is_stopped()) {
            const RangeGoal goal = this->goal();
            if (!goal.is_wanted(boundary_.top().bound)) {
                give_up(boundary_.pop(), goal);
            } else if (counters_.n_nodes >= node_limit) {
                control_.stop(Status::node_limit);
            } else {
                expand_batch(goal, node_limit - counters_.n_nodes);
            }
        }
    }

    /// Expands the best nodes against the same incumbent and gathers what they yield in their
    /// order: who expanded which node when leaves no trace.
    void expand_batch(const RangeGoal& goal, std::uint64_t most) {
        std::vector<RangeNode> batch;
        const std::uint64_t size = std::min<std::uint64_t>({1 + boundary_.size() / 8, 64, most});
        progress_ = {incumbent_.value(), settles_ties_ ? incumbent_.value() : boundary_.bound(),
                     counters_.n_nodes, boundary_.size(), boundary_.is_depth_first()};
        while (batch.size() < size && !boundary_.empty() && goal.is_wanted(boundary_.top().bound))
            batch.push_back(boundary_.pop());
        if (progress_.is_depth_first) counters_.n_depth_first += batch.size();
        std::vector<RangeExpansion> expansions(batch.size());
        control_.poll(progress_);
        const auto expand = [&](std::size_t worker, std::size_t item) {
            const Interrupt interrupt{control_, worker == 0 ? &progress_ : nullptr};
            if (interrupt.is_requested()) return;
            expansions[item] = expanders_[worker]->expand(batch[item], goal, interrupt);
        };
        workers_.run(batch.size(), expand, [&] { control_.poll(progress_); });
        for (std::size_t item = 0; item < batch.size(); ++item)
            gather(batch[item], expansions[item]);
    }

    void gather(RangeNode& node, RangeExpansion& expansion) {
        if (!expansion.is_complete) {
            boundary_.push(std::move(node));
            return;
        }
        ++counters_.n_nodes;
        counters_.n_evaluations += expansion.n_evaluations;
        counters_.bound_immediate += expansion.n_pruned;
        relax(expansion.relaxed_bound);
        for (RangeNode& tied : expansion.tied)
            if (!settles_ties_) tied_.push_back(std::move(tied));
        for (RangeOffer& offer : expansion.offers) take(offer);
        std::sort(expansion.children.begin(), expansion.children.end());
        for (RangeNode& child : expansion.children) push(std::move(child));
    }

    /// Ties have to wait until the value is proven: there may be many.
    void take(RangeOffer& offer) {
        if (settles_ties_) {
            incumbent_.offer(offer.value, sides_.query(offer.cuts));
        } else if (offer.value > incumbent_.value()) {
            const RangeOffer better = ascent_.climb(std::move(offer.cuts));
            incumbent_.offer(better.value, sides_.query(better.cuts));
        }
    }

    void give_up(RangeNode node, const RangeGoal& goal) {
        relax(node.bound);
        if (!settles_ties_ && node.bound >= goal.tie_threshold) tied_.push_back(std::move(node));
    }

    /// Without an approximation factor, what is given up is proven not to be better.
    void relax(double bound) {
        if (limits_.approximation_factor < 1.0) relaxed_bound_ = std::max(relaxed_bound_, bound);
    }

    bool is_proven() const { return boundary_.empty(); }

    /// Searches what was given up for boxes that are as good as the incumbent.
    void settle_ties() {
        if (incumbent_.value() <= 0.0) return;
        settles_ties_ = true;
        const RangeGoal goal = this->goal();
        for (RangeNode& node : tied_)
            if (goal.is_wanted(node.bound)) push(std::move(node));
        const std::uint64_t most =
            std::max(least_tie_nodes, counters_.n_nodes * tie_nodes_per_node);
        const std::uint64_t room = limits_.node_limit - counters_.n_nodes;
        run(counters_.n_nodes + std::min(most, room));
        boundary_ = RangeBoundary(options_.memory_limit);
    }

    Result result() {
        Result result;
        result.value = incumbent_.value();
        result.query = incumbent_.query();
        double bound = relaxed_bound_;
        if (!boundary_.empty()) bound = std::max(bound, boundary_.bound());
        const bool is_optimal = bound <= result.value * (1.0 + value_slack);
        result.bound = is_optimal ? result.value : bound;
        if (is_optimal) {
            result.status = Status::optimal;
        } else {
            result.status = boundary_.empty() ? Status::approximate : *control_.reason();
        }
        result.counters = counters_;
        return result;
    }

    const Problem& problem_;
    const Limits& limits_;
    const OptimalOptions& options_;
    Control control_;
    Workers workers_;
    Sides sides_;
    SignedRows positive_, negative_;
    RangeAscent ascent_;
    Incumbent incumbent_;
    RangeBoundary boundary_;
    std::vector<RangeNode> tied_;  // given up, but may hold ties
    std::vector<std::unique_ptr<RangeExpander>> expanders_;
    std::uint64_t n_pushed_ = 0;
    bool settles_ties_ = false;
    Progress progress_{};
    Counters counters_;
    double relaxed_bound_ = 0.0;
};

}  // namespace

Result optimal_over_ranges(const Problem& problem, const Limits& limits,
                           const OptimalOptions& options) {
    return RangeSearch(problem, limits, options).solve();
}

}  // namespace rulesearch

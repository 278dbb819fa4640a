#include "librulesearch/ranges/search.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "librulesearch/engine/best_first.hpp"
#include "librulesearch/ranges/expander.hpp"
#include "librulesearch/ranges/local_search.hpp"

namespace rulesearch::ranges {
namespace {

/// See BestFirst.
class Branching : public OptionalHooks<Node> {
  public:
    using Node = ranges::Node;

    // Bounds are sums of many prices: those that are above the incumbent by no more than this may
    // be ties, and are looked at when the rest is proven. Values that far below it are not wanted.
    static constexpr double bound_slack = 1e-11;

    Branching(const Problem& problem, const Limits& limits, bool has_local_search)
        : problem_(problem),
          limits_(limits),
          has_local_search_(has_local_search),
          chains_(problem.extents),
          positive_(problem, chains_, false),
          negative_(problem, chains_, true),
          local_search_(problem, chains_, positive_, limits) {}

    std::unique_ptr<Expander> make_expander() const {
        return std::make_unique<Expander>(problem_, limits_, chains_, positive_, negative_);
    }

    void find_incumbent(Incumbent& incumbent, const Interrupt& interrupt) {
        if (!has_local_search_ || chains_.n_chains() == 0) return;
        const Offer best = local_search_.climb_from_everywhere(interrupt);
        incumbent.offer(best.value, chains_.query(best.cuts));
    }

    /// All boxes of either sign, or of the one that counts.
    std::vector<Node> roots(double bound, const Incumbent& incumbent) const {
        std::vector<Node> roots;
        const double value = goal(incumbent).value;
        for (const bool is_negative : {false, true}) {
            const SignedRows& rows = is_negative ? negative_ : positive_;
            if (!problem_.allows(is_negative ? -1.0 : 1.0)) continue;
            if (rows.sum_gains() <= 0.0 || chains_.n_chains() == 0) continue;
            Node root;
            root.bound = bound;
            root.is_negative = is_negative;
            root.low_slope = value / rows.sum_gains() * (1.0 - rounding_slack);
            root.high_slope = rows.steepest_slope() * (1.0 + rounding_slack);
            if (root.low_slope > root.high_slope) continue;  // no box of this sign is worth as much
            root.tight.assign(chains_.n_chains(), 0);
            root.loose = chains_.everything();
            roots.push_back(std::move(root));
        }
        return roots;
    }

    /// What the proof asks for: one box better than the incumbent, if there is any.
    Goal goal(const Incumbent& incumbent) const {
        Goal goal;
        const double value = incumbent.wanted();
        const double factor = limits_.approximation_factor;
        goal.is_approximate = factor < 1.0;
        goal.value = value * (1.0 - bound_slack);
        goal.threshold =
            goal.is_approximate ? value / factor * (1.0 - 1e-15) : value * (1.0 + bound_slack);
        goal.threshold = std::max(goal.threshold, std::numeric_limits<double>::min());
        goal.max_cuts = std::min(limits_.max_conditions, chains_.n_chains());
        goal.is_limited = goal.max_cuts < chains_.n_chains();
        goal.min_coverage = limits_.min_coverage;
        goal.tie_threshold = value * (1.0 - rounding_slack);
        goal.settles_ties = settles_ties_;
        if (settles_ties_) goal.threshold = goal.tie_threshold;
        return goal;
    }

    /// Ties have to wait until the value is proven: there may be many.
    void take(Expansion& expansion, Incumbent& incumbent) {
        for (Node& tied : expansion.tied)
            if (!settles_ties_) tied_.push_back(std::move(tied));
        for (Offer& offer : expansion.offers) {
            if (settles_ties_) {
                incumbent.offer(offer.value, chains_.query(offer.cuts));
            } else if (offer.value > incumbent.wanted()) {
                const Offer better = local_search_.climb(std::move(offer.cuts));
                incumbent.offer(better.value, chains_.query(better.cuts));
            }
        }
    }

    void prepare(Node& node) { node.number = n_opened_++; }

    void give_up(Node node, const Goal& goal) {
        if (!settles_ties_ && node.bound >= goal.tie_threshold) tied_.push_back(std::move(node));
    }

    /// Boxes that are as gaining as the incumbent are in what was given up.
    std::vector<Node> tied_nodes(const Incumbent& incumbent) {
        if (limits_.approximation_factor < 1.0 || incumbent.value() <= 0.0) return {};
        settles_ties_ = true;
        const Goal goal = this->goal(incumbent);
        std::erase_if(tied_, [&](const Node& node) { return goal.can_prune(node); });
        return std::move(tied_);
    }

  private:
    const Problem& problem_;
    const Limits& limits_;
    bool has_local_search_;
    Chains chains_;
    SignedRows positive_, negative_;
    LocalSearch local_search_;
    std::vector<Node> tied_;  // given up, but may hold ties
    std::uint64_t n_opened_ = 0;
    bool settles_ties_ = false;
};

}  // namespace

Result search(const Problem& problem, const Limits& limits, const Resources& resources,
              const Piece& piece, bool has_local_search) {
    Branching branching(problem, limits, has_local_search);
    return BestFirst(problem, limits, resources, piece, branching).solve();
}

}  // namespace rulesearch::ranges

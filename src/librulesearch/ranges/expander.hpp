// Turning a node of the search over ranges into its children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "librulesearch/engine/control.hpp"
#include "librulesearch/ranges/bound.hpp"
#include "librulesearch/ranges/local_search.hpp"

namespace rulesearch {

/// Narrows the ranges of nodes and splits one of them. Each worker has one, so that its buffers are
/// its own.
class RangeExpander {
  public:
    /// `positive`, `negative`: the rows for boxes of either sign.
    RangeExpander(const Problem& problem, const Limits& limits, const Sides& sides,
                  const SignedRows& positive, const SignedRows& negative)
        : problem_(problem),
          sides_(sides),
          positive_(positive),
          negative_(negative),
          ascent_(problem, sides, positive, limits),
          rows_(sides),
          bound_(rows_, problem.l2_regularization) {}

    RangeExpander(const RangeExpander&) = delete;  // the bound refers to the rows
    RangeExpander& operator=(const RangeExpander&) = delete;

    RangeExpansion expand(RangeNode node, const RangeGoal& goal, const Interrupt& interrupt);

  private:
    struct Split {
        std::size_t side;  // or `n_sides` for the slopes
        Level level;       // the lowest one of the upper part
    };

    const SignedRows& signed_rows(const RangeNode& node) const {
        return node.is_negative ? negative_ : positive_;
    }
    bool is_given_up(const RangeNode& node, const RangeGoal& goal, RangeExpansion& expansion) const;
    bool narrow(RangeNode& node, const RangeGoal& goal, RangeExpansion& expansion);
    bool tighten(RangeNode& node, const RangeGoal& goal);
    bool tighten_by_losses(double gap, RangeNode& node) const;
    void offer(const RangeNode& node, const RangeGoal& goal, RangeExpansion& expansion);
    std::vector<std::size_t> promising_sides(const RangeNode& node) const;
    Level split_level(const RangeNode& node, std::size_t side, double gap) const;
    bool branch(RangeNode& node, const RangeGoal& goal, const Interrupt& interrupt,
                RangeExpansion& expansion);
    std::pair<double, double> bounds_of_parts(const RangeNode& node, const Split& split,
                                              const RangeNode& above, const RangeNode& below);
    RangeNode part_above(const RangeNode& node, const Split& split) const;
    RangeNode part_below(const RangeNode& node, const Split& split) const;

    const Problem& problem_;
    const Sides& sides_;
    const SignedRows& positive_;
    const SignedRows& negative_;
    RangeAscent ascent_;
    NodeRows rows_;
    RangeBound bound_;
    Peak peak_;  // of the node, before blocking
    double blocked_bound_ = 0.0;
    std::vector<double> good_losses_, bad_losses_;
    std::vector<double> prices_;  // by good row
};

}  // namespace rulesearch

// Turning a node of the search over ranges into its children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "librulesearch/engine/control.hpp"
#include "librulesearch/ranges/bound.hpp"
#include "librulesearch/ranges/local_search.hpp"

namespace rulesearch::ranges {

/// Narrows the ranges of nodes and splits one of them. Each worker has one, so that its buffers are
/// its own.
class Expander {
  public:
    /// `positive`, `negative`: the rows for boxes of either sign.
    Expander(const Problem& problem, const Limits& limits, const Chains& chains,
             const SignedRows& positive, const SignedRows& negative)
        : problem_(problem),
          chains_(chains),
          positive_(positive),
          negative_(negative),
          local_search_(problem, chains, positive, limits),
          rows_(chains),
          bound_(rows_, problem.l2_regularization) {}

    Expander(const Expander&) = delete;  // the bound refers to the rows
    Expander& operator=(const Expander&) = delete;

    Expansion expand(Node node, const Goal& goal, const Interrupt& interrupt);

  private:
    struct Split {
        std::size_t chain;  // or `n_chains` for the slopes
        Level level;        // the lowest one of the upper part
    };

    const SignedRows& signed_rows(const Node& node) const {
        return node.is_negative ? negative_ : positive_;
    }
    bool is_given_up(const Node& node, const Goal& goal, Expansion& expansion) const;
    bool narrow(Node& node, const Goal& goal, Expansion& expansion);
    bool tighten(Node& node, const Goal& goal);
    bool tighten_by_losses(double gap, Node& node) const;
    void offer(const Node& node, const Goal& goal, Expansion& expansion);
    std::vector<std::size_t> promising_chains(const Node& node) const;
    Level split_level(const Node& node, std::size_t chain, double gap) const;
    bool branch(Node& node, const Goal& goal, const Interrupt& interrupt, Expansion& expansion);
    std::pair<double, double> bounds_of_parts(const Node& node, const Split& split,
                                              const Node& above, const Node& below);
    Node part_above(const Node& node, const Split& split) const;
    Node part_below(const Node& node, const Split& split) const;

    const Problem& problem_;
    const Chains& chains_;
    const SignedRows& positive_;
    const SignedRows& negative_;
    LocalSearch local_search_;
    NodeRows rows_;
    Bound bound_;
    Peak peak_;  // of the node, before blocking
    double blocked_bound_ = 0.0;
    std::vector<double> gaining_losses_, costing_losses_;
    std::vector<double> worths_;  // by gaining row
};

}  // namespace rulesearch::ranges

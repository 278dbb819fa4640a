// Turning a node of the search tree into its children.
#pragma once

#include <memory>

#include "librulesearch/conditions/node.hpp"
#include "librulesearch/engine/control.hpp"
#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/problem/problem.hpp"

namespace rulesearch::conditions {

/// Expands nodes. Each worker has one, so that its buffers are its own.
class Expander {
  public:
    virtual ~Expander() = default;
    virtual Expansion expand(const Node& node, const Pruning& can_prune,
                             const Interrupt& interrupt) = 0;
};

/// Algorithm 1 of the paper: a fixed order of columns, core queries and critical indices.
std::unique_ptr<Expander> make_paper_expander(const Problem& problem, const Limits& limits);

/// Bounds by row classes, a new order of columns at every node, and children that are pruned before
/// they become nodes. `has_leaves`: few columns are solved at once, by superset sums; tests of
/// small problems do without, so that the rest has something to do.
std::unique_ptr<Expander> make_class_expander(const Problem& problem, const Limits& limits,
                                              const Kernels& kernels, bool has_leaves);

}  // namespace rulesearch::conditions

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

/// What a class expander can do without, to see what it is worth.
struct Ingredients {
    bool tangents = true;      // children are pruned before they become nodes, by tangents
    bool closure = true;       // and row pairs
    bool intersection = true;  // and row triples
    bool leaves = true;        // few columns are solved by superset sums
    // Equivalent queries are looked at once. That saves up to a twentieth of the evaluations where
    // nested columns are many and rows few, and next to nothing elsewhere.
    bool canonicity = true;
    bool reordering = true;   // a new order of columns at every node
    bool row_classes = true;  // rows that are not told apart are merged

    bool operator==(const Ingredients&) const = default;
};

/// Bounds by row classes, a new order of columns at every node, and children that are pruned before
/// they become nodes.
std::unique_ptr<Expander> make_class_expander(const Problem& problem, const Limits& limits,
                                              const Kernels& kernels,
                                              const Ingredients& ingredients);

}  // namespace rulesearch::conditions

// Nodes of the search over ranges of cuts, and what is looked for in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "librulesearch/engine/open_nodes.hpp"
#include "librulesearch/problem/problem.hpp"
#include "librulesearch/ranges/chains.hpp"

namespace rulesearch::ranges {

/// What a box can cut on each chain: at no level below `tight` and none above `loose`. Cuts are
/// *closed*: on the highest level that a row of the box has. So each extent is in one box only.
///
/// `low_slope` and `high_slope` hold for G / (lambda + H) of all wanted boxes.
struct Node {
    double bound = 0.0;
    double low_slope = 0.0;
    double high_slope = 0.0;
    double main_slope = 0.0;      // where an ancestor's bound was largest
    bool is_negative = false;     // the sum of gradients
    std::uint64_t number = 0;     // in order of appearance
    std::vector<Level> tight;     // by chain
    std::vector<Level> loose;     // by chain
    std::vector<float> promises;  // by chain: what branching there gained an ancestor

    /// Heap order: the largest bound on top, of equal ones the first that appeared.
    bool operator<(const Node& other) const {
        return bound != other.bound ? bound < other.bound : number > other.number;
    }

    std::size_t n_bytes() const {
        return sizeof(Node) + tight.size() * (2 * sizeof(Level) + sizeof(float));
    }
};

/// What a row, or a sum of rows, adds to the value of a box of slope t, divided by t. The value is
/// (sum g)^2 / (lambda + sum h), the largest of t (2 sum g - t (lambda + sum h)) over all t.
inline double price(double gradient, double hessian, double slope) {
    return 2.0 * gradient - slope * hessian;
}
/// The same, not divided.
inline double worth(double gradient, double hessian, double slope) {
    return slope * price(gradient, hessian, slope);
}

/// Which boxes are wanted.
struct Goal {
    /// Boxes worth less than this are not wanted.
    double value = 0.0;
    /// Nodes of a smaller bound are given up.
    double threshold = 0.0;
    /// Nodes that are given up with a bound from here on are kept for ties.
    double tie_threshold = 0.0;
    double min_coverage = 0.0;
    /// Most chains that may be cut below the top. If that is less than all of them, a chain counts
    /// as cut once its range ends below the top, and is closed only from then on.
    std::size_t max_cuts = 0;
    bool is_limited = false;
    /// Whether boxes are offered that are no better than the incumbent.
    bool settles_ties = false;
    /// Whether something is left unproven where boxes that are better than the incumbent are given
    /// up.
    bool is_approximate = false;

    bool is_wanted(double bound) const { return bound >= threshold; }
    bool can_prune(const Node& node) const { return !is_wanted(node.bound); }
    double unproven(double bound) const { return is_approximate ? bound : 0.0; }
    /// Whether rows that lower the value of all wanted boxes can be cut off a box; they may be
    /// needed to cover enough.
    bool has_gaining_faces() const { return min_coverage <= 0.0; }
};

struct Offer {
    double value;
    std::vector<Level> cuts;
};

/// What the expansion of one node yields.
struct Expansion : BasicExpansion<Node> {
    std::vector<Node> tied;  // given up, but for ties
    std::vector<Offer> offers;
};

}  // namespace rulesearch::ranges

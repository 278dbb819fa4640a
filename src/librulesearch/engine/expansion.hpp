// What the expansion of a node yields.
#pragma once

#include <algorithm>
#include <vector>

#include "librulesearch/problem/problem.hpp"

namespace rulesearch {

/// What the expansion of any node yields; a way of branching adds what it offers.
template <typename Node>
struct BasicExpansion {
    std::vector<Node> children;
    Counters counters;
    double largest_pruned = 0.0;  // largest bound given up that leaves something unproven
    bool is_complete = false;

    void note_pruned(double unproven) { largest_pruned = std::max(largest_pruned, unproven); }
};

}  // namespace rulesearch

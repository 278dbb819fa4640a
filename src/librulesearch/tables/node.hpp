// Parts of the set of all short queries, and what is looked for in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "librulesearch/engine/open_nodes.hpp"
#include "librulesearch/tables/local_problem.hpp"

namespace rulesearch::tables {

/// Which queries of a local problem a node holds.
enum class Part {
    all,     // all of them
    column,  // whose first column is the given one
    axis     // whose first axis is the given one
};

/// What a node needs besides is made when it is expanded.
struct Node {
    /// Mostly all nodes are expanded, and there are few of them, of very different size.
    static constexpr std::uint64_t min_batch_size = 4;

    double bound = 0.0;
    std::uint64_t number = 0;
    std::shared_ptr<const LocalProblem> local;
    Part part = Part::all;
    std::size_t index = 0;

    bool operator<(const Node& other) const {
        return bound != other.bound ? bound < other.bound : number > other.number;
    }
    std::size_t n_bytes() const { return sizeof(Node); }
};

struct Offer {
    double value;
    std::vector<std::size_t> query;
};

struct Expansion : BasicExpansion<Node> {
    std::vector<Offer> offers;
    std::shared_ptr<LocalProblem> local;  // that the children share
};

/// What is looked for: queries that are at least as good as the incumbent.
struct Goal {
    double value = 0.0;
    double approximation_factor = 1.0;
    double slack = rounding_slack;  // see Problem

    /// Parts of which no query is worth this much are given up.
    double threshold() const { return value / approximation_factor * (1.0 - slack); }
    bool can_prune(const Node& node) const { return node.bound < threshold(); }
    double unproven(double bound) const {
        return approximation_factor < 1.0 && bound > value ? bound : 0.0;
    }
};

}  // namespace rulesearch::tables

// All sets of a few conditions, from tables over a few features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "librulesearch/engine/control.hpp"
#include "librulesearch/engine/open_nodes.hpp"
#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/problem/problem.hpp"
#include "librulesearch/tables/features.hpp"
#include "librulesearch/tables/pair_graph.hpp"

namespace rulesearch::tables {

/// Sums of masks that are looked at together: few enough for most tables to stay in a cache, many
/// enough for what a table costs besides them not to count.
inline constexpr std::size_t max_lane_sums = 768;

/// Rows and conditions, as tables take them.
struct LocalProblem {
    std::vector<std::uint32_t> rows;  // distinct ones
    std::vector<Axis> axes;
    std::size_t n_conditions = 0;            // of a query at most
    std::shared_ptr<const PairGraph> pairs;  // that it may have; or none
};

/// All queries whose first axis is the given one.
struct Node {
    double bound = 0.0;
    std::uint64_t number = 0;
    std::shared_ptr<const LocalProblem> local;
    std::size_t axis = 0;

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
};

/// What is looked for: queries that are at least as good as the incumbent.
struct Goal {
    double value = 0.0;

    bool can_prune(const Node& node) const { return node.bound < value * (1.0 - rounding_slack); }
    double unproven(double) const { return 0.0; }
};

class Expander {
  public:
    Expander(const Problem& problem, const Limits& limits, const Kernels& kernels)
        : problem_(problem),
          limits_(limits),
          kernels_(kernels),
          table_sums_{problem.others.n_components, limits.min_coverage > 0.0} {
        max_lanes_ = padded_lanes(max_lane_sums / table_sums_.size());
    }

    Expansion expand(const Node& node, const Goal& goal, const Interrupt& interrupt);

  private:
    void pack(double value);
    double pack_components(double wanted, double n_rows);
    void pack_coverages();
    void scan(const std::vector<std::size_t>& outer, std::size_t first, std::size_t n_pairs,
              const Interrupt& interrupt);
    void add_lanes(std::size_t axis, std::size_t first_mask, std::size_t end_mask);
    void scan_lanes();
    void check(const std::uint32_t* masks, std::size_t lane);

    /// Masks of one axis, in lanes.
    struct Group {
        std::size_t axis, first_mask, n_masks, first_lane;
    };

    const Problem& problem_;
    const Limits& limits_;
    const Kernels& kernels_;
    const LocalProblem* local_ = nullptr;
    Expansion* expansion_ = nullptr;
    double best_ = 0.0;
    double packed_value_ = 0.0;
    TableScan scan_{};
    std::vector<std::size_t> outer_;
    std::vector<Group> groups_;
    std::size_t n_lanes_ = 0, n_cells_ = 0;
    std::size_t max_lanes_ = 0;
    TableSums table_sums_;
    std::vector<std::int32_t> entries_;  // of the rows, as tables add them up
    std::vector<std::int32_t> cells_, sums_, rows_, buffer_;
    std::vector<std::uint32_t> base_;
    std::vector<float> square_scales_;
    float scale_ = 0.0F, threshold_ = 0.0F, least_square_ = 0.0F;
    std::int32_t min_coverage_ = 0;
};

}  // namespace rulesearch::tables

// All sets of a few conditions, from tables over a few features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "librulesearch/engine/control.hpp"
#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/problem/problem.hpp"
#include "librulesearch/tables/branching.hpp"
#include "librulesearch/tables/node.hpp"
#include "librulesearch/tables/packing.hpp"
#include "librulesearch/tables/row_tables.hpp"

namespace rulesearch::tables {

class Expander {
  public:
    Expander(const Problem& problem, const Limits& limits, const std::vector<Feature>& features,
             const Kernels& kernels)
        : problem_(problem),
          limits_(limits),
          kernels_(kernels),
          brancher_(problem, features, kernels),
          packing_(problem, limits),
          fine_tables_(kernels),
          max_lanes_(padded_lanes(max_lane_sums / packing_.sums().size())) {}

    Expansion expand(const Node& node, const Goal& goal, const Interrupt& interrupt);

  private:
    void look_at(std::shared_ptr<const LocalProblem> local, std::size_t first_axis,
                 std::size_t end_axis, const Interrupt& interrupt);
    void scan(const std::vector<std::size_t>& outer, std::size_t first, std::size_t n_pairs,
              const Interrupt& interrupt);
    void add_lanes(std::size_t axis, std::size_t first_mask, std::size_t end_mask);
    void scan_lanes();
    void add_rows(const Axis& axis);
    void check(const std::uint32_t* masks, std::size_t lane);
    void keep(double value, std::vector<std::size_t> query, BitSet extent);

    /// Masks of one axis, in lanes.
    struct Group {
        std::size_t axis, first_mask, n_masks, first_lane;
    };

    const Problem& problem_;
    const Limits& limits_;
    const Kernels& kernels_;
    Brancher brancher_;
    Packing packing_;
    RowTables fine_tables_;
    std::size_t max_lanes_;
    std::shared_ptr<const LocalProblem> local_;
    Expansion* expansion_ = nullptr;
    const Interrupt* interrupt_ = nullptr;
    double best_ = 0.0;
    TableScan scan_{};
    std::vector<std::size_t> outer_;
    std::vector<Group> groups_;
    std::size_t n_lanes_ = 0, n_cells_ = 0;
    const Axis* last_axis_ = nullptr;  // of the table in the cells
    std::vector<std::int32_t> cells_, sums_, rows_, buffer_;
    std::vector<std::uint32_t> base_;
    std::vector<BitSet> extents_;  // of what is offered, if several are wanted
};

}  // namespace rulesearch::tables

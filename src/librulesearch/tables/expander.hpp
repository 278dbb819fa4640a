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
#include "librulesearch/tables/packings.hpp"
#include "librulesearch/tables/set_sums.hpp"

namespace rulesearch::tables {

class Expander {
  public:
    /// `shares`: by column, see `least_shares`; none to add up all that terms imitate. Rows are
    /// packed roughly, without that, and in detail.
    Expander(const Problem& problem, const Limits& limits, const std::vector<Feature>& features,
             const std::vector<float>& shares, const SetSums& set_sums, const Kernels& kernels,
             Packings& rough, Packings& detailed)
        : problem_(problem),
          limits_(limits),
          kernels_(kernels),
          brancher_(problem, features, kernels),
          shares_(shares),
          set_sums_(set_sums),
          rough_(rough),
          detailed_(detailed) {}

    Expansion expand(const Node& node, const Goal& goal, const Interrupt& interrupt);

  private:
    void look_at(std::shared_ptr<const LocalProblem> local, std::size_t first_axis,
                 std::size_t end_axis, const Interrupt& interrupt);
    void scan(const std::vector<std::size_t>& outer, std::size_t first, std::size_t n_pairs,
              const Interrupt& interrupt);
    void scan_with(Packings& packings, std::size_t first, std::size_t n_pairs,
                   const Interrupt& interrupt);
    std::uint64_t affordable_hits(std::size_t first) const;
    bool has_too_many_hits() const { return n_hits_ > max_hits_; }
    void add_lanes(std::size_t axis, std::size_t first_mask, std::size_t end_mask);
    void add_lane_shares(const Axis& axis, std::size_t first_mask, std::size_t n_masks);
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
    const std::vector<float>& shares_;
    const SetSums& set_sums_;
    Packings &rough_, &detailed_;
    std::shared_ptr<PackedTables> rough_rows_, detailed_rows_;  // as packed last
    PackedTables* rows_ = nullptr;                              // one of them
    Packing::Wanted wanted_;
    std::uint64_t n_hits_ = 0, max_hits_ = 0;  // in all tables of a node
    std::shared_ptr<const LocalProblem> local_;
    Expansion* expansion_ = nullptr;
    const Interrupt* interrupt_ = nullptr;
    double best_ = 0.0;
    TableScan scan_{};
    std::vector<std::size_t> outer_;
    std::vector<Group> groups_;
    std::size_t n_lanes_ = 0, max_lanes_ = 0, n_cells_ = 0;
    const Axis* last_axis_ = nullptr;  // of the table in the cells
    std::vector<std::int64_t> fine_cells_;
    std::vector<std::int32_t> cells_, sums_, lanes_, buffer_;
    std::vector<float> lane_shares_;
    std::vector<std::uint32_t> base_;
    std::vector<BitSet> extents_;  // of what is offered, if several are wanted
};

}  // namespace rulesearch::tables

#include "librulesearch/tables/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "librulesearch/beam/beam.hpp"
#include "librulesearch/engine/best_first.hpp"
#include "librulesearch/problem/discounted.hpp"
#include "librulesearch/tables/expander.hpp"
#include "librulesearch/tables/node_bytes.hpp"

namespace rulesearch::tables {
namespace {

// All queries of so few conditions are looked at, whatever the bounds.
constexpr std::size_t n_short = 3;
// Each column may be the first of five conditions, but few partners are left to most of them.
// Measured on 25 tables.
constexpr double share_of_columns = 0.05;
// What a bound from sorted rows costs for each of them, with room: such bounds are made where they
// do not count next to the tables.
constexpr double work_per_entry = 500.0;

/// See BestFirst.
class Branching : public OptionalHooks<Node> {
  public:
    using Node = tables::Node;

    Branching(const Problem& problem, const Limits& limits, const Kernels& kernels,
              std::size_t beam_width)
        : problem_(problem),
          limits_(limits),
          kernels_(kernels),
          beam_width_(beam_width),
          features_(find_features(problem.extents)) {}

    std::unique_ptr<Expander> make_expander() const {
        return std::make_unique<Expander>(problem_, limits_, features_, kernels_);
    }

    void find_incumbent(Incumbent& incumbent, const Interrupt& interrupt) const {
        Counters beam_counters;
        if (beam_width_ > 0)
            extend_beam(problem_, limits_, kernels_, beam_width_, incumbent, beam_counters,
                        interrupt);
    }

    std::vector<Node> roots(double bound, const Incumbent& incumbent) const {
        std::vector<Node> roots;
        if (bound <= 0.0) return roots;  // no row pulls
        const BitSet all_columns(problem_.extents.n_columns(), true);
        // Prices of pairs say little where terms imitate most of a set.
        const bool looks_at_all = !problem_.refitted.empty();
        const std::size_t n_looked_at =
            looks_at_all ? limits_.max_conditions : std::min(limits_.max_conditions, n_short);
        auto local = std::make_shared<LocalProblem>(everything(problem_, n_looked_at));
        local->make_axes(features_, all_columns);
        if (local->axes.empty()) return roots;
        std::vector<double> bounds = axis_bounds(*local, bound, incumbent.wanted());
        if (limits_.max_conditions > n_looked_at) {
            // Short queries first: the best of them is an incumbent that rules out pairs.
            bound = *std::max_element(bounds.begin(), bounds.end());
            std::fill(bounds.begin(), bounds.end(), bound);
        }
        for (std::size_t axis = 0; axis < local->axes.size(); ++axis)
            roots.push_back({bounds[axis], 0, local, Part::axis, axis});
        if (limits_.max_conditions > n_looked_at)
            roots.push_back(
                {bound, 0,
                 std::make_shared<LocalProblem>(everything(problem_, limits_.max_conditions)),
                 Part::all, 0});
        return roots;
    }

    Goal goal(const Incumbent& incumbent) const {
        return {incumbent.wanted(), limits_.approximation_factor, problem_.slack()};
    }

    void take(const Expansion& expansion, Incumbent& incumbent) const {
        for (const Offer& offer : expansion.offers) incumbent.offer(offer.value, offer.query);
    }

    void prepare(Node& node) { node.number = n_opened_++; }

    void prepare_children(Expansion& expansion, const MemoryAccount& memory) const {
        if (!expansion.children.empty())
            expansion.local->charge = memory.charge(expansion.local->n_bytes());
    }

    void write(const std::vector<Node>& nodes, ByteWriter& out) const { tables::write(nodes, out); }
    std::vector<Node> read(ByteReader& in, const MemoryAccount& memory) const {
        return tables::read(in, problem_, features_, memory);
    }
    const void* group(const Node& node) const { return node.local.get(); }

  private:
    /// By axis: no query with a condition on it is worth more, or more than the incumbent.
    std::vector<double> axis_bounds(const LocalProblem& local, double bound, double value) const {
        const std::size_t n_columns = problem_.extents.n_columns();
        const Question question{local.sums, problem_.l2_regularization, limits_.max_conditions,
                                value * (1.0 - problem_.slack())};
        std::vector<double> of_columns(n_columns, bound);
        if (problem_.refitted.empty() && question.has_prices()) {
            of_columns = column_bounds(question, local.axes, n_columns, kernels_);
        } else if (work_per_entry * static_cast<double>(local.rows.size() * n_columns) <
                   scan_work(local.rows.size(), local.axes, local.n_conditions,
                             problem_.refitted.n_components)) {
            for (std::size_t column = 0; column < n_columns; ++column)
                of_columns[column] = bound_within(problem_, problem_.extents.extent(column));
        }
        std::vector<double> bounds;
        for (const Axis& axis : local.axes) {
            double largest = 0.0;
            for (std::size_t mask = 0; mask < axis.n_singles; ++mask)
                largest = std::max(largest, of_columns[axis.columns[mask][0]]);
            bounds.push_back(std::min(largest, bound));
        }
        return bounds;
    }

    const Problem& problem_;
    const Limits& limits_;
    const Kernels& kernels_;
    std::size_t beam_width_;
    std::vector<Feature> features_;
    std::uint64_t n_opened_ = 0;
};

}  // namespace

double work(const Extents& extents, std::size_t n_conditions, std::size_t n_components) {
    const double infinite = std::numeric_limits<double>::infinity();
    if (n_conditions > max_conditions || (n_components > 0 && n_conditions > max_joint_conditions))
        return infinite;
    const std::vector<Feature> features = find_features(extents);
    LocalProblem local;
    local.rows.resize(extents.n_distinct_rows());
    std::iota(local.rows.begin(), local.rows.end(), 0);
    const auto work_at_once = [&](std::size_t n) {
        local.n_conditions = n;
        local.make_axes(features, BitSet(extents.n_columns(), true));
        return scan_work(local.rows.size(), local.axes, n, n_components);
    };
    const double n_first =
        std::max(1.0, share_of_columns * static_cast<double>(extents.n_columns()));
    double result = work_at_once(std::min(n_conditions, max_scanned));
    // Where tables would be too large, queries are divided by their first condition.
    if (n_components == 0 && n_conditions > n_short && result == infinite)
        result = n_first * work_at_once(n_short);
    return n_conditions > max_scanned ? n_first * result : result;
}

Result search(const Problem& problem, const Limits& limits, const Resources& resources,
              const Piece& piece, const Kernels& kernels, std::size_t beam_width) {
    Branching branching(problem, limits, kernels, beam_width);
    return BestFirst(problem, limits, resources, piece, branching).solve();
}

}  // namespace rulesearch::tables

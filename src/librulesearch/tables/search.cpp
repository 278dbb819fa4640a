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
#include "librulesearch/tables/expander.hpp"

namespace rulesearch::tables {
namespace {

// More cells than rows are mostly empty, and large tables leave the cache.
constexpr double cells_per_row = 2.0;
constexpr double max_joined_bins = 16.0;
constexpr double max_table_bytes = 1 << 27;

std::vector<std::uint32_t> all_rows(const Extents& extents) {
    std::vector<std::uint32_t> rows(extents.n_distinct_rows());
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

/// Axes for queries of up to that many conditions.
std::vector<Axis> axes_for(const Extents& extents, const std::vector<Feature>& features,
                           const std::vector<std::uint32_t>& rows, const BitSet& columns,
                           std::size_t n_conditions, const AllowedPairs& is_allowed = {}) {
    const double n_axes = static_cast<double>(std::max<std::size_t>(n_conditions, 2));
    const double n_cells = cells_per_row * static_cast<double>(rows.size());
    const double n_bins = std::min(std::pow(n_cells, 1.0 / n_axes), max_joined_bins);
    return make_axes(extents, features, rows, columns, static_cast<std::size_t>(n_bins),
                     n_conditions > 2, is_allowed);
}

/// Whether the largest table leaves no room for others: all but one of its axes, by lanes.
bool needs_too_much_memory(const std::vector<Axis>& axes, std::size_t n_conditions) {
    std::vector<double> n_bins;
    for (const Axis& axis : axes) n_bins.push_back(static_cast<double>(axis.n_bins));
    std::sort(n_bins.rbegin(), n_bins.rend());
    double n_bytes = max_lane_sums * sizeof(std::int32_t);
    for (std::size_t axis = 0; axis + 1 < std::min(n_conditions, axes.size()); ++axis)
        n_bytes *= n_bins[axis];
    return n_bytes > max_table_bytes;
}

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
        return std::make_unique<Expander>(problem_, limits_, kernels_);
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
        const std::size_t n_columns = problem_.extents.n_columns();
        const std::size_t n_short = std::min<std::size_t>(limits_.max_conditions, 3);
        auto local = localize(BitSet(n_columns, true), n_short);
        add_nodes(bound, local, roots);
        if (limits_.max_conditions > 3 && !problem_.others.empty()) {
            // Prices of pairs say little where others imitate most of a set.
            add_nodes(bound, localize(BitSet(n_columns, true), limits_.max_conditions), roots);
        } else if (limits_.max_conditions > 3) {
            auto pairs = std::make_shared<PairGraph>(problem_, local->rows, local->axes,
                                                     limits_.max_conditions,
                                                     incumbent.value() * (1.0 - rounding_slack));
            auto longer = localize(pairs->columns(), limits_.max_conditions, pairs->pairs());
            longer->pairs = std::move(pairs);
            add_nodes(bound, longer, roots);
        }
        return roots;
    }

    Goal goal(const Incumbent& incumbent) const { return {incumbent.value()}; }

    void take(const Expansion& expansion, Incumbent& incumbent) const {
        for (const Offer& offer : expansion.offers) incumbent.offer(offer.value, offer.query);
    }

    void prepare(Node& node) { node.number = n_opened_++; }

  private:
    std::shared_ptr<LocalProblem> localize(const BitSet& columns, std::size_t n_conditions,
                                           const AllowedPairs& is_allowed = {}) const {
        auto local = std::make_shared<LocalProblem>();
        local->n_conditions = n_conditions;
        local->rows = all_rows(problem_.extents);
        local->axes =
            axes_for(problem_.extents, features_, local->rows, columns, n_conditions, is_allowed);
        return local;
    }

    static void add_nodes(double bound, const std::shared_ptr<LocalProblem>& local,
                          std::vector<Node>& nodes) {
        for (std::size_t axis = 0; axis < local->axes.size(); ++axis)
            nodes.push_back({bound, 0, local, axis});
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
    if (n_conditions > max_conditions) return std::numeric_limits<double>::infinity();
    const std::vector<std::uint32_t> rows = all_rows(extents);
    const std::vector<Axis> axes = axes_for(extents, find_features(extents), rows,
                                            BitSet(extents.n_columns(), true), n_conditions);
    if (needs_too_much_memory(axes, n_conditions)) return std::numeric_limits<double>::infinity();
    // By number of conditions: sets, combinations of axes, and cells of their tables.
    std::vector<double> n_sets(n_conditions + 1), n_tables(n_conditions + 1);
    std::vector<double> n_cells(n_conditions + 1);
    n_sets[0] = n_tables[0] = n_cells[0] = 1.0;
    for (const Axis& axis : axes) {
        const double n_pairs = static_cast<double>(axis.masks.size() - axis.n_singles);
        for (std::size_t n = n_conditions; n > 0; --n) {
            n_sets[n] += n_sets[n - 1] * static_cast<double>(axis.n_singles);
            n_tables[n] += n_tables[n - 1];
            n_cells[n] += n_cells[n - 1] * static_cast<double>(axis.n_bins);
            if (n < 2) continue;
            n_sets[n] += n_sets[n - 2] * n_pairs;
            n_tables[n] += n_tables[n - 2];  // one axis twice
        }
    }
    const auto sum = [](const std::vector<double>& numbers) {
        return std::accumulate(numbers.begin(), numbers.end(), 0.0);
    };
    const double n_pairs_of_sums = static_cast<double>(2 + n_components) / 2.0;
    return static_cast<double>(rows.size()) * sum(n_tables) +
           n_pairs_of_sums * (sum(n_cells) + sum(n_sets));
}

Result search(const Problem& problem, const Limits& limits, const Resources& resources,
              const Kernels& kernels, std::size_t beam_width) {
    Branching branching(problem, limits, kernels, beam_width);
    return BestFirst(problem, limits, resources, branching).solve();
}

}  // namespace rulesearch::tables

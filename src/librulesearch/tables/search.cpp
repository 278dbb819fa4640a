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

// All queries of so few conditions are looked at, whatever the bounds.
constexpr std::size_t n_short = 3;
// Each column may be the first of five conditions, but few partners are left to most of them.
// Measured on 25 tables.
constexpr double share_of_columns = 0.05;

/// See BestFirst.
class Branching : public OptionalHooks<Node> {
  public:
    using Node = tables::Node;

    Branching(const Problem& problem, const Limits& limits, const Kernels& kernels,
              std::size_t beam_width, const std::vector<std::size_t>& start)
        : problem_(problem),
          limits_(limits),
          kernels_(kernels),
          beam_width_(beam_width),
          start_(start),
          features_(find_features(problem.extents)) {}

    std::unique_ptr<Expander> make_expander() const {
        return std::make_unique<Expander>(problem_, limits_, features_, kernels_);
    }

    void find_incumbent(Incumbent& incumbent, const Interrupt& interrupt) const {
        incumbent.offer(problem_.worth(problem_.extents.extent_of(start_)).value, start_);
        Counters beam_counters;
        if (beam_width_ > 0)
            extend_beam(problem_, limits_, kernels_, beam_width_, incumbent, beam_counters,
                        interrupt);
    }

    std::vector<Node> roots(double bound, const Incumbent&) const {
        std::vector<Node> roots;
        if (bound <= 0.0) return roots;  // no row pulls
        const BitSet all_columns(problem_.extents.n_columns(), true);
        // Prices of pairs say little where others imitate most of a set.
        const bool looks_at_all = !problem_.others.empty();
        const std::size_t n_looked_at =
            looks_at_all ? limits_.max_conditions : std::min(limits_.max_conditions, n_short);
        auto local = std::make_shared<LocalProblem>(everything(problem_, n_looked_at));
        local->make_axes(features_, all_columns);
        for (std::size_t axis = 0; axis < local->axes.size(); ++axis)
            roots.push_back({bound, 0, local, Part::axis, axis});
        if (limits_.max_conditions > n_looked_at)
            roots.push_back(
                {bound, 0,
                 std::make_shared<LocalProblem>(everything(problem_, limits_.max_conditions)),
                 Part::all, 0});
        return roots;
    }

    Goal goal(const Incumbent& incumbent) const {
        return {incumbent.value(), limits_.approximation_factor, problem_.slack()};
    }

    void take(const Expansion& expansion, Incumbent& incumbent) const {
        for (const Offer& offer : expansion.offers) incumbent.offer(offer.value, offer.query);
    }

    void prepare(Node& node) { node.number = n_opened_++; }

    void prepare_children(Expansion& expansion, const MemoryAccount& memory) const {
        if (!expansion.children.empty())
            expansion.local->charge = memory.charge(expansion.local->n_bytes());
    }

  private:
    const Problem& problem_;
    const Limits& limits_;
    const Kernels& kernels_;
    std::size_t beam_width_;
    const std::vector<std::size_t>& start_;
    std::vector<Feature> features_;
    std::uint64_t n_opened_ = 0;
};

}  // namespace

double work(const Extents& extents, std::size_t n_conditions, std::size_t n_components) {
    if (n_conditions > max_conditions ||
        (n_components > 0 && n_conditions > max_conditions_with_others))
        return std::numeric_limits<double>::infinity();
    std::vector<std::uint32_t> rows(extents.n_distinct_rows());
    std::iota(rows.begin(), rows.end(), 0);
    LocalProblem local;
    local.n_conditions = std::min(n_conditions, max_scanned);
    local.rows = std::move(rows);
    local.make_axes(find_features(extents), BitSet(extents.n_columns(), true));
    const double scanned =
        scan_work(local.rows.size(), local.axes, local.n_conditions, n_components);
    if (n_conditions <= max_scanned) return scanned;
    return scanned * std::max(1.0, share_of_columns * static_cast<double>(extents.n_columns()));
}

Result search(const Problem& problem, const Limits& limits, const Resources& resources,
              const Kernels& kernels, std::size_t beam_width,
              const std::vector<std::size_t>& start) {
    Branching branching(problem, limits, kernels, beam_width, start);
    return BestFirst(problem, limits, resources, branching).solve();
}

}  // namespace rulesearch::tables

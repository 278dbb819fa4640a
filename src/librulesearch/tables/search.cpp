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
#include "librulesearch/tables/shares.hpp"

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
// The rows that a first incumbent is chosen by: of long tables, a sample.
constexpr std::size_t beam_rows = 1 << 14;
// What the product of two components of a row costs.
constexpr double work_per_square = 0.7;
// What bounds by share cost for each row, with room, at all levels together.
constexpr std::size_t work_per_priced_axis = 128, work_per_priced_row = 2048;
// More work for four conditions is worth the bounds of pairs of them.
constexpr double max_work_undivided = 3e7;

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
          features_(find_features(problem.extents)),
          set_sums_(problem, kernels),
          rough_(problem, limits, false, kernels),
          detailed_(problem, limits, true, kernels) {
        if (are_worth_shares()) shares_ = least_shares(problem, features_);
    }

    std::unique_ptr<Expander> make_expander() {
        return std::make_unique<Expander>(problem_, limits_, features_, shares_, set_sums_,
                                          kernels_, rough_, detailed_);
    }

    void find_incumbent(Incumbent& incumbent, const Interrupt& interrupt) const {
        Counters beam_counters;
        if (beam_width_ > 0)
            extend_beam(problem_, limits_, kernels_, beam_width_, incumbent, beam_counters,
                        interrupt, {{}}, nullptr, max_beam_rows());
        if (problem_.refitted.empty() || limits_.max_conditions <= n_short) return;
        // Queries that are divided by their first condition have another one.
        for (std::size_t column = 0; column < problem_.extents.n_columns(); ++column) {
            const auto [value, sums] = problem_.worth(problem_.extents.extent(column));
            if (sums.coverage >= limits_.min_coverage) incumbent.offer(value, {column});
        }
    }

    std::vector<Node> roots(double bound, const Incumbent& incumbent) const {
        if (bound <= 0.0) return {};  // no row pulls
        return problem_.refitted.empty() ? stagewise_roots(bound, incumbent)
                                         : joint_roots(bound, incumbent);
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
    std::vector<Node> stagewise_roots(double bound, const Incumbent& incumbent) const {
        const std::size_t n_looked_at = std::min(limits_.max_conditions, n_short);
        auto local = std::make_shared<LocalProblem>(everything(problem_, n_looked_at));
        local->make_axes(features_, BitSet(problem_.extents.n_columns(), true));
        if (local->axes.empty()) return {};
        const std::size_t n_columns = problem_.extents.n_columns();
        const Question question{local->sums, problem_.l2_regularization, limits_.max_conditions,
                                incumbent.wanted() * (1.0 - problem_.slack())};
        std::vector<double> of_columns(n_columns, bound);
        if (question.has_prices()) {
            of_columns = column_bounds(question, local->axes, n_columns, kernels_);
        } else if (is_worth_bounds(*local)) {
            note_bounds_within(*local, of_columns);
        }
        std::vector<Node> roots = axis_nodes(local, bound, of_columns);
        if (limits_.max_conditions > n_looked_at) {
            // Short queries first: the best of them is an incumbent that rules out pairs.
            bound = std::max_element(roots.begin(), roots.end())->bound;
            for (Node& root : roots) root.bound = bound;
            roots.push_back(node_of_all(bound));
        }
        return roots;
    }

    /// All sets are looked at, but for those with conditions of which no set is good enough.
    std::vector<Node> joint_roots(double bound, const Incumbent& incumbent) const {
        if (limits_.max_conditions > max_scanned) return {node_of_all(bound)};
        auto local = std::make_shared<LocalProblem>(everything(problem_, limits_.max_conditions));
        local->make_axes(features_, local->columns);
        const double wanted = incumbent.wanted() * (1.0 - problem_.slack());
        std::vector<double> of_columns(problem_.extents.n_columns(), bound);
        if (are_worth_bounds_by_share(*local)) {
            const std::vector<double> by_share = bounds_by_share(
                problem_, shares_, local->axes, limits_.max_conditions, wanted, kernels_);
            for (std::size_t column = 0; column < of_columns.size(); ++column)
                of_columns[column] = std::min(bound, by_share[column]);
            keep_columns(*local, of_columns, wanted);
        }
        if (is_worth_bounds(*local)) {
            note_bounds_within(*local, of_columns);
            keep_columns(*local, of_columns, wanted);
        }
        if (local->axes.empty()) return {};
        if (limits_.max_conditions > n_short && work_of(*local) > max_work_undivided)
            return {node_of_all(bound)};
        return axis_nodes(local, bound, of_columns);
    }

    Node node_of_all(double bound) const {
        return {bound, 0,
                std::make_shared<LocalProblem>(everything(problem_, limits_.max_conditions)),
                Part::all, 0};
    }

    /// Of a first incumbent, unless it may be the last one.
    std::size_t max_beam_rows() const {
        const bool is_limited = limits_.node_limit < std::numeric_limits<std::uint64_t>::max() ||
                                limits_.table_limit < std::numeric_limits<std::uint64_t>::max();
        return is_limited ? std::numeric_limits<std::size_t>::max() : beam_rows;
    }

    double work_of(const LocalProblem& local) const {
        return scan_work(local.rows.size(), local.axes, local.n_conditions);
    }

    /// Leaves out columns of which no query is good enough.
    void keep_columns(LocalProblem& local, const std::vector<double>& of_columns,
                      double wanted) const {
        BitSet kept(of_columns.size());
        local.columns.for_each([&](std::size_t column) {
            if (of_columns[column] >= wanted) kept.insert(column);
        });
        local.make_axes(features_, kept);
        local.columns = std::move(kept);
    }

    /// Whether it pays to know what terms leave of the columns: adding up what they imitate of all
    /// sets takes longer. An estimate, whatever the gradients.
    bool are_worth_shares() const {
        if (problem_.refitted.empty()) return false;
        const std::size_t n_conditions = std::min(limits_.max_conditions, max_scanned);
        const auto n_choices = [&](std::size_t n) {
            double result = 1.0;
            for (std::size_t i = 0; i < std::min(n, n_conditions); ++i)
                result *= static_cast<double>(n - i) / static_cast<double>(i + 1);
            return result;
        };
        const auto n_rows = static_cast<double>(problem_.rows.size());
        const auto n_components = static_cast<double>(problem_.refitted.n_components);
        return work_per_square * n_rows * static_cast<double>(features_.size()) * n_components *
                   n_components <
               n_rows * n_choices(features_.size()) + n_choices(problem_.extents.n_columns()) / 2.0;
    }

    bool are_worth_bounds_by_share(const LocalProblem& local) const {
        if (shares_.empty()) return false;
        const std::size_t per_row = work_per_priced_axis * local.axes.size() + work_per_priced_row;
        return static_cast<double>(local.rows.size() * per_row) < work_of(local);
    }

    bool is_worth_bounds(const LocalProblem& local) const {
        if (problem_.refitted.has_single_rows) return false;  // nothing is left of hessians
        const std::size_t n_entries = local.rows.size() * local.columns.size();
        return work_per_entry * static_cast<double>(n_entries) < work_of(local);
    }

    /// Lowers the bounds of columns to those from sorted rows.
    void note_bounds_within(const LocalProblem& local, std::vector<double>& of_columns) const {
        local.columns.for_each([&](std::size_t column) {
            const double within = bound_within(problem_, problem_.extents.extent(column));
            of_columns[column] = std::min(of_columns[column], within);
        });
    }

    /// A node for each axis: no query with a condition on it is worth more than they are.
    static std::vector<Node> axis_nodes(const std::shared_ptr<const LocalProblem>& local,
                                        double bound, const std::vector<double>& of_columns) {
        std::vector<Node> nodes;
        for (const Axis& axis : local->axes) {
            double largest = 0.0;
            for (std::size_t mask = 0; mask < axis.n_singles; ++mask)
                largest = std::max(largest, of_columns[axis.columns[mask][0]]);
            nodes.push_back({std::min(largest, bound), 0, local, Part::axis, nodes.size()});
        }
        return nodes;
    }

    const Problem& problem_;
    const Limits& limits_;
    const Kernels& kernels_;
    std::size_t beam_width_;
    const std::vector<Feature>& features_;
    SetSums set_sums_;
    Packings rough_, detailed_;  // without what terms imitate, and with it
    std::vector<float> shares_;  // under the joint objective, see `least_shares`
    std::uint64_t n_opened_ = 0;
};

}  // namespace

double work(const Extents& extents, std::size_t n_conditions) {
    const double infinite = std::numeric_limits<double>::infinity();
    if (n_conditions > max_conditions) return infinite;
    const std::vector<Feature>& features = find_features(extents);
    LocalProblem local;
    local.rows.resize(extents.n_distinct_rows());
    std::iota(local.rows.begin(), local.rows.end(), 0);
    const auto work_at_once = [&](std::size_t n) {
        local.n_conditions = n;
        local.make_axes(features, BitSet(extents.n_columns(), true));
        return scan_work(local.rows.size(), local.axes, n);
    };
    const double n_first =
        std::max(1.0, share_of_columns * static_cast<double>(extents.n_columns()));
    double result = work_at_once(std::min(n_conditions, max_scanned));
    // Where tables would be too large, queries are divided by their first condition.
    if (n_conditions > n_short && result == infinite) result = n_first * work_at_once(n_short);
    return n_conditions > max_scanned ? n_first * result : result;
}

Result search(const Problem& problem, const Limits& limits, const Resources& resources,
              const Piece& piece, const Kernels& kernels, std::size_t beam_width) {
    Branching branching(problem, limits, kernels, beam_width);
    return BestFirst(problem, limits, resources, piece, branching).solve();
}

}  // namespace rulesearch::tables

// Problems, and each bound of the search by itself, for tests: what it says about one query or
// node.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "librulesearch/conditions/candidates.hpp"
#include "librulesearch/kernels/proof_workspace.hpp"
#include "librulesearch/problem/discounted.hpp"
#include "librulesearch/ranges/bound.hpp"
#include "librulesearch/tables/local_problem.hpp"
#include "librulesearch/tables/pair_graph.hpp"
#include "librulesearch/tables/shares.hpp"

using namespace nb::literals;
using namespace rulesearch;

namespace {

using Columns = std::vector<std::uint32_t>;

/// The candidates of a query, all other columns that cut some of its rows off, with their bounds.
struct Query {
    Problem problem;
    Limits limits = {};
    const Kernels& kernels;
    conditions::Candidates candidates{problem, limits, kernels};

    Query(Problem given, const Columns& query, const std::string& instruction_set)
        : problem(std::move(given)), kernels(rulesearch::kernels(instruction_set)) {
        const double nothing_known = std::numeric_limits<double>::infinity();
        const auto siblings = std::make_shared<conditions::Siblings>();
        for (std::uint32_t column = 0; column < problem.extents.n_columns(); ++column)
            if (std::find(query.begin(), query.end(), column) == query.end())
                siblings->augmentations.push_back({column, column, nothing_known});
        const conditions::Node node{nothing_known, query, siblings, 0};
        conditions::Expansion expansion;
        candidates.take(node);
        if (candidates.select(node, {0.0, 1.0, std::nullopt}, expansion)) candidates.bound(0.0);
    }
};

using ColumnBound = std::tuple<std::uint32_t, double, double, double>;

std::vector<ColumnBound> bound_columns(const Query& query) {
    std::vector<ColumnBound> bounds;
    query.candidates.for_each([&](std::size_t position) {
        const Statistics sums = query.candidates.sums(position);
        bounds.emplace_back(query.candidates.column(position), query.candidates.bound_at(position),
                            sums.gradient, sums.hessian);
    });
    return bounds;
}

bool is_proven_below(Query& query, double value, bool has_chains, const ProofEffort& effort) {
    conditions::Candidates& candidates = query.candidates;
    if (candidates.size() == 0) return true;
    const Extents& extents = query.problem.extents;
    std::vector<Word> tops = candidates.positions();
    std::vector<std::int32_t> below(tops.size() * word_bits, -1);
    std::vector<std::size_t> columns;
    candidates.for_each([&](std::size_t column) { columns.push_back(column); });
    for (const std::size_t a : columns) {
        for (const std::size_t b : columns) {
            const auto &link = extents.link(a), &lower = extents.link(b);
            if (link.chain != lower.chain || lower.level >= link.level) continue;
            clear_bit(tops, b);
            const std::int32_t best = below[a];
            if (best < 0 || extents.link(static_cast<std::size_t>(best)).level < lower.level)
                below[a] = static_cast<std::int32_t>(b);
        }
    }
    candidates.orders().sort_by_key(candidates.rows(), candidates.other_rows());
    const RowsView rows = candidates.other_rows().view();
    ProofWorkspace workspace;
    return query.kernels.is_proven_below(
        rows,
        has_chains ? ChainsView{below.data(), tops.data(), 0}
                   : ChainsView{nullptr, candidates.positions().data(), 0},
        {candidates.forced().gradient, candidates.forced().hessian},
        query.problem.l2_regularization, value, effort, workspace.buffers(rows));
}

using Levels = std::vector<ranges::Level>;
using Split = std::tuple<std::size_t, ranges::Level, double, double>;
using NodeBounds = std::tuple<double, double, std::vector<Split>>;

/// Bounds of a node by implied rows and by blocked rows, and those of all its splits: chain, level,
/// at or above it, below it. Nothing if it has no wanted box.
std::optional<NodeBounds> bound_ranges(const Problem& problem, const Levels& tight,
                                       const Levels& loose, bool is_negative, double value,
                                       double min_coverage, std::size_t max_cuts) {
    const ranges::Chains chains(problem.extents);
    const ranges::SignedRows rows(problem, chains, is_negative);
    if (rows.sum_gains() <= 0.0) return std::nullopt;
    ranges::Goal goal;
    goal.value = value;
    goal.min_coverage = min_coverage;
    goal.max_cuts = max_cuts;
    goal.is_limited = max_cuts < chains.n_chains();
    ranges::Node node;
    node.is_negative = is_negative;
    node.low_slope = value / rows.sum_gains() * (1.0 - rounding_slack);
    node.high_slope = rows.steepest_slope() * (1.0 + rounding_slack);
    node.tight = tight;
    node.loose = loose;
    ranges::NodeRows node_rows(chains);
    ranges::Bound bound(node_rows, problem.l2_regularization);
    if (node.low_slope > node.high_slope || !node_rows.assign(rows, goal, node))
        return std::nullopt;
    const double implied = bound.of_node(node).bound, blocked = bound.of_blocked_node(node);
    std::vector<Split> splits;
    for (const std::size_t chain : node_rows.open_chains()) {
        for (ranges::Level level = node.tight[chain] + 1; level <= node.loose[chain]; ++level)
            splits.emplace_back(chain, level, bound.at_or_above(node, chain, level),
                                bound.below(node, chain, level));
    }
    return NodeBounds(implied, blocked, std::move(splits));
}

/// Pairs of columns that may be in a query of that many conditions that is worth a value.
std::vector<std::tuple<std::uint32_t, std::uint32_t>> allowed_pairs(const Problem& problem,
                                                                    std::size_t n_conditions,
                                                                    double value) {
    const std::size_t n_columns = problem.extents.n_columns();
    std::vector<std::uint32_t> rows(problem.extents.n_distinct_rows());
    std::iota(rows.begin(), rows.end(), 0);
    const auto axes = tables::make_axes(tables::find_features(problem.extents), rows,
                                        BitSet(n_columns, true), 4, false);
    tables::Question question{problem.rows, problem.l2_regularization, n_conditions, value};
    const Limits limits;
    Control control(limits);
    const tables::PairGraph graph(question, axes, n_columns, {}, kernels(instruction_sets().back()),
                                  {control});
    std::vector<std::tuple<std::uint32_t, std::uint32_t>> pairs;
    for (std::uint32_t a = 0; a < n_columns; ++a)
        for (std::uint32_t b = a + 1; b < n_columns; ++b)
            if (graph.pairs()(a, b)) pairs.emplace_back(a, b);
    return pairs;
}

/// By column, in tables of the joint objective: the share of hessians that sets of its rows keep,
/// and what no query of that many conditions with it exceeds if it is worth a value.
std::vector<std::tuple<float, double>> column_shares(const Problem& problem,
                                                     std::size_t n_conditions, double value) {
    const std::size_t n_columns = problem.extents.n_columns();
    const auto& features = tables::find_features(problem.extents);
    tables::LocalProblem local = tables::everything(problem, n_conditions);
    local.make_axes(features, BitSet(n_columns, true));
    const std::vector<float> shares = tables::least_shares(problem, features);
    const std::vector<double> bounds = tables::bounds_by_share(
        problem, shares, local.axes, n_conditions, value, kernels(instruction_sets().back()));
    std::vector<std::tuple<float, double>> result;
    for (std::size_t column = 0; column < n_columns; ++column)
        result.emplace_back(shares[column], bounds[column]);
    return result;
}

std::vector<std::vector<std::size_t>> chains_of(const Extents& extents) {
    const ranges::Chains chains(extents);
    std::vector<std::vector<std::size_t>> columns(chains.n_chains());
    for (std::size_t chain = 0; chain < chains.n_chains(); ++chain)
        for (ranges::Level level = 0; level < chains.top(chain); ++level)
            columns[chain].push_back(chains.column(chain, level));
    return columns;
}

}  // namespace

void bind_problem(nb::module_& module) {
    nb::class_<Problem>(module, "Problem",
                        "What is searched, and each bound of the search by itself, for tests. "
                        "Queries name columns there; values lack the factor 1/(2n).")
        .def(
            "__init__",
            [](Problem* self, const Extents& extents, const DoubleVector& gradients,
               const DoubleVector& hessians, const DoubleVector& coverage, double l2_regularization,
               const GivenTerms& refitted, int sign) {
                new (self) Problem(
                    make_problem(extents, gradients, hessians, coverage, l2_regularization, sign));
                add_refitted_terms(*self, hessians, refitted);
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 7>(), "extents"_a, "gradients"_a.noconvert(),
            "hessians"_a.noconvert(), "coverage"_a.noconvert(), "l2_regularization"_a,
            "refitted"_a.noconvert().none() = nb::none(), "sign"_a = 0)
        .def("of_all_rows", &bound_of_all_rows, "Largest value of any set of rows.")
        .def(
            "of_query",
            [](const Problem& self, const Columns& query) {
                return bound_within(self, self.extents.extent_of(query));
            },
            "query"_a, "Largest value of any set of the query's rows, as in the paper.")
        .def(
            "of_columns",
            [](const Problem& self, const Columns& query, const std::string& instruction_set) {
                return bound_columns(Query(self, query, instruction_set));
            },
            "query"_a, "instruction_set"_a,
            "Column, bound and sums of gradients and hessians for each column that the query may "
            "be augmented by.")
        .def(
            "is_proven_below",
            [](const Problem& self, const Columns& query, double value, bool chains, bool closure,
               bool intersection, const std::string& instruction_set) {
                Query candidates(self, query, instruction_set);
                return is_proven_below(candidates, value, chains, {closure, intersection});
            },
            "query"_a, "value"_a, nb::kw_only(), "chains"_a, "closure"_a, "intersection"_a,
            "instruction_set"_a,
            "Whether it is proven that no augmentation of the query is worth more.")
        .def("of_ranges", &bound_ranges, "tight"_a, "loose"_a, nb::kw_only(), "is_negative"_a,
             "value"_a, "min_coverage"_a, "max_cuts"_a,
             "Bounds of boxes of one sign that are worth a value: by implied rows, by blocked "
             "rows, and for each split its chain, level, and bounds at or above it and below. "
             "None if no box is wanted.")
        .def("allowed_pairs", &allowed_pairs, "n_conditions"_a, "value"_a,
             "Pairs of columns that are not ruled out of queries of that many conditions that are "
             "worth at least a value.")
        .def(
            "column_shares", &column_shares, "n_conditions"_a, "value"_a,
            "By column, with refitted terms: the share of hessians that any set of its rows keeps, "
            "and what no query of that many conditions with it exceeds if it is worth at least a "
            "value.")
        .def(
            "chains", [](const Problem& self) { return chains_of(self.extents); },
            "Columns by chain, from small to large.")
        .def_static(
            "sum_supersets",
            [](const DoubleVector& values, std::size_t n_columns,
               const std::string& instruction_set) {
                require_length(values, "values", std::size_t{1} << n_columns);
                return make_array<double>(values.shape(0), [&](double* sums) {
                    std::copy_n(values.data(), values.shape(0), sums);
                    kernels(instruction_set).sum_supersets(sums, n_columns);
                });
            },
            "values"_a.noconvert(), "n_columns"_a, "instruction_set"_a,
            "By index, the sum of the values whose indices contain all of its bits.");
}

// What a search is given and what it gives back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "librulesearch/problem/extents.hpp"
#include "librulesearch/problem/refitted_terms.hpp"

namespace rulesearch {

/// Sums are exact, so a bound is off by a few roundings at most: far below this.
inline constexpr double rounding_slack = 1e-12;

/// Sums over a set of rows. The rows' values are multiples of a common power of two that is small
/// enough for every partial sum to be exact in double precision, so that a set has the same sums in
/// whatever order its rows are added.
struct Statistics {
    double gradient = 0.0;
    double hessian = 0.0;
    double coverage = 0.0;

    Statistics& operator+=(const Statistics& other) {
        gradient += other.gradient;
        hessian += other.hessian;
        coverage += other.coverage;
        return *this;
    }
};

/// A row's g/h; without hessian, infinite in the direction of the gradient.
inline double ratio(double gradient, double hessian) {
    if (hessian > 0.0) return gradient / hessian;
    const double infinity = std::numeric_limits<double>::infinity();
    return gradient > 0.0 ? infinity : -infinity;
}

/// Find the conjunction of columns that maximises `value`, in units in which the factor 1/(2n) is
/// left out.
struct Problem {
    const Extents& extents;
    std::vector<Statistics> rows;  // one entry per distinct row
    double l2_regularization;
    /// If there are any, the objective is the joint one: what a new rule gains after a refit of all
    /// weights.
    RefittedTerms refitted = {};
    /// Of the weights that rules may have: 1 or -1, or 0 for both. The weight of a set is positive
    /// where its gradients add up to something negative; sets of the other sign are worth nothing.
    int sign = 0;

    bool allows(double sum_gradients) const {
        return sign == 0 || (sign > 0 ? sum_gradients < 0.0 : sum_gradients > 0.0);
    }

    /// (sum g)^2 / (lambda + sum h); 0 for an empty set, also where lambda is 0, and for weights of
    /// the wrong sign. For the joint objective, pass the hessians that refitted terms leave.
    double value(double sum_gradients, double sum_hessians) const {
        if (sum_gradients == 0.0 || !allows(sum_gradients)) return 0.0;
        return sum_gradients * sum_gradients / (l2_regularization + sum_hessians);
    }
    double value(const Statistics& sums) const { return value(sums.gradient, sums.hessian); }

    /// The joint objective, given the hessians that refitted terms leave.
    double joint_value(double sum_gradients, double left) const {
        return RefittedTerms::rounded(value(sum_gradients, left));
    }
    /// Sets that are worth less than another one by no more than this share may tie with it.
    double slack() const { return refitted.empty() ? rounding_slack : RefittedTerms::value_slack; }

    /// What a set of distinct rows is worth, and its sums. O(rows). With refitted terms, a set
    /// that one of
    /// them covers is worth nothing, however much a second rule for it would spread the penalty.
    struct Worth {
        double value;
        Statistics sums;
    };
    Worth worth(const BitSet& set) const {
        Statistics sums;
        set.for_each([&](std::size_t row) { sums += rows[row]; });
        std::vector<double> projection(refitted.n_components);
        for (std::size_t k = 0; k < refitted.n_components; ++k) {
            const double* component = refitted.component(k);
            set.for_each([&](std::size_t row) { projection[k] += component[row]; });
        }
        return worth(set, sums, projection.data());
    }
    /// The same, given what the rows add up to.
    Worth worth(const BitSet& set, const Statistics& sums, const double* projection) const {
        if (refitted.empty()) return {value(sums), sums};
        if (refitted.excluded.contains(set)) return {0.0, sums};
        return {joint_value(sums.gradient, refitted.left(sums.hessian, projection)), sums};
    }
    Worth worth_of_all() const { return worth(BitSet(rows.size(), true)); }
};

struct Progress {
    double value;           // of the incumbent
    double bound;           // no query is worth more
    std::uint64_t n_nodes;  // expanded so far
    std::uint64_t n_open;   // still to be expanded
    bool is_depth_first;    // because memory is short
};

struct Limits {
    std::size_t max_conditions = std::numeric_limits<std::size_t>::max();
    double min_coverage = 0.0;
    double approximation_factor = 1.0;
    std::uint64_t node_limit = std::numeric_limits<std::uint64_t>::max();
    /// Rows added to tables and sets looked at in them; reaching it counts as that of nodes.
    std::uint64_t table_limit = std::numeric_limits<std::uint64_t>::max();
    double time_limit = std::numeric_limits<double>::infinity();  // seconds
    /// Queries that are worth no more than this are not wanted.
    double cutoff = -1.0;
    /// Whether a query above the cutoff ends the search.
    bool stops_above_cutoff = false;
    /// How many of the best queries to find, with different extents; over ranges, one.
    std::size_t n_best = 1;
    /// Asked now and then, always from the calling thread; `true` ends the search.
    std::function<bool(const Progress&)> should_stop = {};
};

/// What a search may use.
struct Resources {
    std::size_t n_workers = 1;
    /// Bytes that open nodes may take before the search turns depth-first.
    std::size_t memory_limit = std::size_t{1} << 28;
};

/// Open nodes of a search that was stopped, as bytes: any search of the same problem, within the
/// same limits and by the same branching, can take them up.
struct OpenPart {
    double bound = 0.0;  // no query in it is worth more
    std::uint64_t n_nodes = 0;
    std::string bytes;
};

/// The piece of a search that is to be done, where several workers share it.
struct Piece {
    /// Columns of a query within the limits, a first incumbent.
    std::vector<std::size_t> start = {};
    /// Bytes of open parts, to be searched rather than all queries.
    std::optional<std::vector<std::string>> parts = {};
    /// Into how many parts at most that is divided which is left open; for 0 it is not handed back.
    std::size_t n_parts = 0;
    /// From then on no further node is expanded, but for the first.
    double seconds = std::numeric_limits<double>::infinity();

    bool is_all() const {
        return !parts && n_parts == 0 && seconds == std::numeric_limits<double>::infinity();
    }
};

enum class Status { optimal, approximate, heuristic, node_limit, time_limit, interrupted, cutoff };

/// How often each pruning rule was applied: because of the bound or because an equivalent query is
/// looked at elsewhere, detected at the node (immediate) or known from an ancestor (propagated).
struct Counters {
    std::uint64_t n_nodes = 0;        // expanded
    std::uint64_t n_depth_first = 0;  // of the nodes, those expanded while memory was short
    std::uint64_t n_leaves = 0;       // solved by superset sums, without a node
    std::uint64_t n_tables = 0;       // of sums over a few features
    std::uint64_t n_table_rows = 0;   // that were added to them
    std::uint64_t n_table_sets = 0;   // looked at in tables
    std::uint64_t n_evaluations = 0;  // augmented queries whose objective was computed
    std::uint64_t n_dropped = 0;      // columns that no query is searched with, by their bounds
    std::uint64_t bound_immediate = 0;
    std::uint64_t bound_propagated = 0;
    std::uint64_t equivalence_immediate = 0;
    std::uint64_t equivalence_propagated = 0;

    Counters& operator+=(const Counters& other) {
        n_nodes += other.n_nodes;
        n_depth_first += other.n_depth_first;
        n_leaves += other.n_leaves;
        n_tables += other.n_tables;
        n_table_rows += other.n_table_rows;
        n_table_sets += other.n_table_sets;
        n_evaluations += other.n_evaluations;
        n_dropped += other.n_dropped;
        bound_immediate += other.bound_immediate;
        bound_propagated += other.bound_propagated;
        equivalence_immediate += other.equivalence_immediate;
        equivalence_propagated += other.equivalence_propagated;
        return *this;
    }
};

struct Result {
    std::vector<std::size_t> query;  // condition indices, ascending
    double value = 0.0;
    double bound = 0.0;
    Status status = Status::optimal;
    Counters counters;
    /// Of all that was given up, whatever is left open.
    double closed_bound = 0.0;
    std::vector<OpenPart> open = {};
    /// All queries that a beam search has kept, size by size; of an exact search for several, the
    /// best ones, the best first.
    std::vector<std::vector<std::size_t>> kept = {};
};

}  // namespace rulesearch

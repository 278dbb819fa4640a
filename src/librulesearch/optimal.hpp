// Exact search: the ways of branching, and the choice between them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "librulesearch/conditions/expander.hpp"
#include "librulesearch/problem/problem.hpp"

namespace rulesearch {

/// What a search branches over.
enum class Branching {
    conditions,  // one more condition, bounded by what the remaining ones can express
    tables,      // none: tables of sums hold all sets of a few conditions
    ranges,      // ranges of cuts on chains of nested columns
    paper        // one more condition, as in the paper: bounded by any subset of the covered rows
};

struct OptimalOptions {
    Branching branching = Branching::conditions;
    /// Of the beam search for a first incumbent; 0 starts from the true query. Without a number, it
    /// is 6, or over ranges a local search.
    std::optional<std::size_t> beam_width = {};
    /// Over ranges, a search has one piece.
    Piece piece = {};
    Resources resources = {};
    /// The best one that there is, unless one is named.
    std::optional<std::string> instruction_set = {};
    /// Over conditions: whether few remaining columns are solved at once, by superset sums.
    bool has_leaves = true;
};

/// Best query of all within the limits, with a certificate.
///
/// The result, counters included, depends on the arguments but not on the number of workers; a time
/// limit or interruption is the only source of variation. Throws std::invalid_argument for options
/// that the way of branching does not have.
Result optimal(const Problem& problem, const Limits& limits, const OptimalOptions& options);

}  // namespace rulesearch

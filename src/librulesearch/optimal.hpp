// Exact search: best-bound-first branch-and-bound.
#pragma once

#include <cstddef>
#include <string>

#include "librulesearch/conditions/expander.hpp"
#include "librulesearch/problem/problem.hpp"

namespace rulesearch {

/// Which row subsets a bound admits.
enum class Bound {
    paper,        // any subset of the covered rows
    row_classes,  // only subsets that the candidates can express
    ranges        // as few as ranges of cuts on chains of nested columns leave
};

struct OptimalOptions {
    Bound bound = Bound::row_classes;
    /// Of the search for a first incumbent; 0 starts from the true query.
    std::size_t beam_width = 6;
    std::size_t n_workers = 1;
    /// Bytes that open nodes may take before the search turns depth-first.
    std::size_t memory_limit = std::size_t{1} << 28;
    std::string instruction_set = instruction_sets().back();
    Ingredients ingredients = {};
};

/// Best query of all within the limits, with a certificate.
///
/// The result, counters included, depends on the arguments but not on the number of workers; a time
/// limit or interruption is the only source of variation.
Result optimal(const Problem& problem, const Limits& limits, const OptimalOptions& options);

}  // namespace rulesearch

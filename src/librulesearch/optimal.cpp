#include "librulesearch/optimal.hpp"

#include <stdexcept>

#include "librulesearch/conditions/search.hpp"
#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/ranges/search.hpp"
#include "librulesearch/tables/search.hpp"

namespace rulesearch {
namespace {

constexpr std::size_t default_beam_width = 6;
// Where all short queries are looked at, a first incumbent need not cost as much as they do.
constexpr std::size_t long_beam_width = 2, n_long_rows = 1 << 14;

std::size_t beam_width_for(const Problem& problem, Branching branching) {
    const bool is_long = problem.extents.n_distinct_rows() > n_long_rows;
    return branching == Branching::tables && is_long ? long_beam_width : default_beam_width;
}

void refuse_if(bool is_given, const char* message) {
    if (is_given) throw std::invalid_argument(message);
}

Result over_ranges(const Problem& problem, const Limits& limits, const OptimalOptions& options) {
    refuse_if(options.instruction_set.has_value(),
              "Ranges have a single instruction set. Leave out the instruction_set.");
    refuse_if(!options.piece.is_all(), "A search over ranges cannot be divided into pieces.");
    const bool has_start = options.beam_width != 0;
    refuse_if(
        has_start && options.beam_width.has_value(),
        "Ranges start from a local search, not from a beam. Leave out the beam_width, or pass "
        "0 to start from the true query.");
    return ranges::search(problem, limits, options.resources, options.piece, has_start);
}

}  // namespace

Result optimal(const Problem& problem, const Limits& limits, const OptimalOptions& options) {
    refuse_if(
        !problem.refitted.empty() && options.branching == Branching::ranges,
        "Branching over ranges does not support the joint objective. Set branching to 'tables' "
        "or 'conditions'.");
    refuse_if(
        !problem.refitted.empty() && options.branching == Branching::conditions &&
            problem.l2_regularization == 0.0,
        "Branching over conditions needs l2_regularization > 0 for the joint objective. Raise "
        "it, or set branching to 'tables' or 'paper'.");
    if (options.branching == Branching::ranges) return over_ranges(problem, limits, options);
    const Kernels& kernels =
        rulesearch::kernels(options.instruction_set.value_or(instruction_sets().back()));
    const std::size_t beam_width =
        options.beam_width.value_or(beam_width_for(problem, options.branching));
    refuse_if(
        options.branching == Branching::tables && limits.max_conditions > tables::max_conditions,
        "Tables hold queries of at most five conditions. Set max_conditions to 5 or less.");
    if (options.branching == Branching::tables)
        return tables::search(problem, limits, options.resources, options.piece, kernels,
                              beam_width);
    return conditions::search(problem, limits, options.resources, options.piece, kernels,
                              beam_width, [&] {
                                  return options.branching == Branching::paper
                                             ? conditions::make_paper_expander(problem, limits)
                                             : conditions::make_class_expander(
                                                   problem, limits, kernels, options.has_leaves);
                              });
}

}  // namespace rulesearch

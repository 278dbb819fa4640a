#include "librulesearch/optimal.hpp"

#include "librulesearch/conditions/search.hpp"
#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/ranges/search.hpp"

namespace rulesearch {

Result optimal(const Problem& problem, const Limits& limits, const OptimalOptions& options) {
    const Kernels& kernels = rulesearch::kernels(options.instruction_set);
    const auto over_conditions = [&](const auto& make_expander) {
        return conditions::search(problem, limits, options.resources, kernels, options.beam_width,
                                  make_expander);
    };
    switch (options.branching) {
        case Branching::ranges:
            return ranges::search(problem, limits, options.resources, options.beam_width > 0);
        case Branching::paper:
            return over_conditions(
                [&] { return conditions::make_paper_expander(problem, limits); });
        case Branching::conditions:
            break;
    }
    return over_conditions([&] {
        return conditions::make_class_expander(problem, limits, kernels, options.ingredients);
    });
}

}  // namespace rulesearch

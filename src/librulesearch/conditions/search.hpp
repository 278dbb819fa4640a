// Exact search that adds one condition at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "librulesearch/conditions/expander.hpp"
#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/problem/problem.hpp"

namespace rulesearch::conditions {

/// Best query of all within the limits, with a certificate, by branching over conditions.
///
/// `beam_width`: of the beam search for a first incumbent; 0 starts from the true query.
/// `make_expander`: is called once for each worker.
Result search(const Problem& problem, const Limits& limits, const Resources& resources,
              const Piece& piece, const Kernels& kernels, std::size_t beam_width,
              const std::function<std::unique_ptr<Expander>()>& make_expander);

}  // namespace rulesearch::conditions

// Exact search over ranges of cuts.
#pragma once

#include "librulesearch/optimal.hpp"

namespace rulesearch {

/// Best query of all within the limits, with a certificate, by branching over ranges of cuts on the
/// chains of nested columns. The same result as that of any other exact search, but for the
/// counters; made for tables with many thresholds per feature.
///
/// The best value is proven first, then the query that ties are decided for is looked for among
/// those that are not longer than the one found.
Result optimal_over_ranges(const Problem& problem, const Limits& limits,
                           const OptimalOptions& options);

}  // namespace rulesearch

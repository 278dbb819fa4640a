// Exact search that narrows ranges of cuts.
#pragma once

#include "librulesearch/problem/problem.hpp"

namespace rulesearch::ranges {

/// Best query of all within the limits, with a certificate, by branching over ranges of cuts on the
/// chains of nested columns. The same result as that of any other exact search, but for the
/// counters; made for tables with many thresholds per feature.
///
/// The best value is proven first, then the query that ties are decided for is looked for among
/// those that are not longer than the one found.
///
/// `has_local_search`: whether it starts from the best of many local searches, or from the true
/// query.
/// Of the piece, only the start counts.
Result search(const Problem& problem, const Limits& limits, const Resources& resources,
              const Piece& piece, bool has_local_search);

}  // namespace rulesearch::ranges

// Heuristic search, one condition at a time.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "librulesearch/engine/control.hpp"
#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/problem/incumbent.hpp"
#include "librulesearch/problem/problem.hpp"

namespace rulesearch {

using Queries = std::vector<std::vector<std::size_t>>;

/// Extends the `width` best queries of one size to those of the next, as long as the best one
/// improves, and offers all it keeps to `incumbent`. Width 1 is greedy search. The first ones are
/// `starts`, all of one size. Appends the columns of all that it keeps to `kept`, if given.
///
/// Where there are more than about `max_rows` distinct rows, a sample of them decides what is kept;
/// all rows say what that is worth.
void extend_beam(const Problem& problem, const Limits& limits, const Kernels& kernels,
                 std::size_t width, Incumbent& incumbent, Counters& counters,
                 const Interrupt& interrupt, const Queries& starts = {{}}, Queries* kept = nullptr,
                 std::size_t max_rows = std::numeric_limits<std::size_t>::max());

/// Greedy (width 1) or beam search by itself. The bound is the bounding theorem's for all rows.
Result beam(const Problem& problem, const Limits& limits, std::size_t width, Queries starts);

}  // namespace rulesearch

// From an extent back to a short query.
#pragma once

#include <cstddef>
#include <vector>

#include "librulesearch/problem/extents.hpp"

namespace rulesearch {

/// Columns, ascending, whose intersection is `extent`: the fewest, and of those the
/// lexicographically first. `extent` must be the extent of some query.
///
/// This is a set cover of the excluded rows by the columns that contain the extent. It is solved
/// exactly within a fixed amount of work, else by the greedy cover (nearly always as short). Either
/// way the answer depends on nothing but the arguments.
std::vector<std::size_t> shorten_query(const Extents& extents, const BitSet& extent);

}  // namespace rulesearch

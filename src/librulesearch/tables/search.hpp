// Exact search by number of conditions.
#pragma once

#include <cstddef>
#include <vector>

#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/problem/problem.hpp"

namespace rulesearch::tables {

/// No query may have more.
inline constexpr std::size_t max_conditions = 5;

/// What a search for up to that many conditions costs, known before it starts: rows that are added
/// to tables, their cells, and sets of rows that are looked at. An upper bound for four conditions,
/// of which many are ruled out in pairs, and under the joint objective unless many sets are looked
/// at more closely. For five it is an estimate, as it is the gradients that decide
/// how many are ruled out; so it is for four if a single table would be too large. Infinite if
/// queries are too long, or tables too large that cannot be divided.
double work(const Extents& extents, std::size_t n_conditions);

/// Best query of all within the limits, with a certificate, for a limit of few conditions: all sets
/// that bounds do not rule out are looked at, in tables of sums.
Result search(const Problem& problem, const Limits& limits, const Resources& resources,
              const Piece& piece, const Kernels& kernels, std::size_t beam_width);

}  // namespace rulesearch::tables

// Parts of the set of all short queries as bytes.
#pragma once

#include <vector>

#include "librulesearch/engine/open_nodes.hpp"
#include "librulesearch/engine/pieces.hpp"
#include "librulesearch/problem/problem.hpp"
#include "librulesearch/tables/features.hpp"
#include "librulesearch/tables/node.hpp"

namespace rulesearch::tables {

/// Writes nodes, and once what several of them share: conditions in common, further columns, pairs
/// and slopes. Rows and axes are made of them again. A first column joins those in common.
void write(const std::vector<Node>& nodes, ByteWriter& out);
std::vector<Node> read(ByteReader& in, const Problem& problem, const std::vector<Feature>& features,
                       const MemoryAccount& memory);

}  // namespace rulesearch::tables

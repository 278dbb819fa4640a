// Nodes of the search tree as bytes.
#pragma once

#include <vector>

#include "librulesearch/conditions/node.hpp"
#include "librulesearch/engine/open_nodes.hpp"
#include "librulesearch/engine/pieces.hpp"

namespace rulesearch::conditions {

/// Writes nodes, and once what several of them share, but for the rows: these are found again.
void write(const std::vector<Node>& nodes, ByteWriter& out);
std::vector<Node> read(ByteReader& in, std::size_t n_columns, const MemoryAccount& memory);

}  // namespace rulesearch::conditions

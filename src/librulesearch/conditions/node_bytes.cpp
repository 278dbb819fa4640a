#include "librulesearch/conditions/node_bytes.hpp"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

namespace rulesearch::conditions {
namespace {

void write(const Siblings& siblings, ByteWriter& out) {
    std::vector<std::uint32_t> excluded;
    siblings.excluded.for_each(
        [&](std::size_t column) { excluded.push_back(static_cast<std::uint32_t>(column)); });
    out.numbers(excluded);
    out.number<std::uint8_t>(siblings.is_examined ? 1 : 0);
    out.numbers(siblings.augmentations);
}

std::shared_ptr<Siblings> read_siblings(ByteReader& in, std::size_t n_columns,
                                        const MemoryAccount& memory) {
    auto siblings = std::make_shared<Siblings>();
    siblings->excluded = BitSet(n_columns);
    for (const std::uint32_t column : in.numbers<std::uint32_t>())
        siblings->excluded.insert(column);
    siblings->is_examined = in.number<std::uint8_t>() != 0;
    siblings->augmentations = in.numbers<Augmentation>();
    siblings->charge = memory.charge(siblings->n_bytes());
    return siblings;
}

}  // namespace

void write(const std::vector<Node>& nodes, ByteWriter& out) {
    std::vector<std::vector<const Node*>> families;
    std::unordered_map<const Siblings*, std::size_t> family_of;
    for (const Node& node : nodes) {
        const auto [entry, is_new] = family_of.try_emplace(node.siblings.get(), families.size());
        if (is_new) families.emplace_back();
        families[entry->second].push_back(&node);
    }
    for (const auto& family : families) {
        write(*family.front()->siblings, out);
        out.count(family.size());
        for (const Node* node : family) {
            out.number(node->bound);
            out.count(node->next_sibling);
            out.numbers(node->query);
        }
    }
}

std::vector<Node> read(ByteReader& in, std::size_t n_columns, const MemoryAccount& memory) {
    std::vector<Node> nodes;
    while (!in.is_at_end()) {
        const std::shared_ptr<const Siblings> siblings = read_siblings(in, n_columns, memory);
        for (std::size_t n_left = in.count(); n_left > 0; --n_left) {
            Node node{in.number<double>(), {}, siblings, in.count()};
            node.query = in.numbers<std::uint32_t>();
            nodes.push_back(std::move(node));
        }
    }
    return nodes;
}

}  // namespace rulesearch::conditions

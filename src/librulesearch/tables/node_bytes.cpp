#include "librulesearch/tables/node_bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

namespace rulesearch::tables {
namespace {

using Columns = std::vector<std::uint32_t>;
using Pairs = std::vector<std::array<std::uint32_t, 2>>;

Columns listed(const BitSet& set) {
    Columns columns;
    set.for_each([&](std::size_t i) { columns.push_back(static_cast<std::uint32_t>(i)); });
    return columns;
}

void write_pairs(const LocalProblem& local, ByteWriter& out) {
    out.number<std::uint8_t>(local.pairs ? 1 : 0);
    if (!local.pairs) return;
    Pairs pairs;
    local.pairs->columns().for_each([&](std::size_t a) {
        local.pairs->neighbours(a).for_each([&](std::size_t b) {
            pairs.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)});
        });
    });
    out.numbers(pairs);
}

void write_local(const LocalProblem& local, ByteWriter& out) {
    out.numbers(local.prefix);
    out.count(local.n_conditions);
    out.number(local.slopes);
    write_pairs(local, out);
}

void write_family(const std::vector<const Node*>& nodes, ByteWriter& out) {
    const Node& first = *nodes.front();
    const LocalProblem& local = *first.local;
    out.number(first.part);
    write_local(local, out);
    if (first.part == Part::all) out.numbers(listed(local.columns));
    if (first.part == Part::axis) {
        out.count(local.axes.size());
        for (const Axis& axis : local.axes) {
            Columns columns;
            for (std::size_t mask = 0; mask < axis.n_singles; ++mask)
                columns.push_back(axis.columns[mask][0]);
            out.numbers(columns);
        }
    }
    out.count(nodes.size());
    for (const Node* node : nodes) {
        out.number(node->bound);
        out.count(node->index);
        if (first.part == Part::column) out.numbers(listed(local.later_partners(node->index)));
    }
}

/// Makes local problems from bytes.
class FamilyReader {
  public:
    FamilyReader(ByteReader& in, const Problem& problem, const std::vector<Feature>& features,
                 const MemoryAccount& memory)
        : in_(in), problem_(problem), features_(features), memory_(memory) {}

    void read(std::vector<Node>& nodes) {
        const auto part = in_.number<Part>();
        const auto prefix = in_.numbers<std::uint32_t>();
        const std::size_t n_conditions = in_.count();
        slopes_ = in_.number<std::array<SlopeRange, 2>>();
        read_pairs();
        std::shared_ptr<LocalProblem> shared;
        if (part != Part::column) {
            shared = make_local(prefix, n_conditions);
            if (part == Part::all) shared->columns = read_columns();
            if (part == Part::axis) read_axes(*shared);
            shared->charge = memory_.charge(shared->n_bytes());
        }
        for (std::size_t n_left = in_.count(); n_left > 0; --n_left) {
            Node node{in_.number<double>(), 0, shared, part, in_.count()};
            if (part == Part::column) {
                Columns longer = prefix;
                longer.push_back(static_cast<std::uint32_t>(node.index));
                auto local = make_local(std::move(longer), n_conditions - 1);
                local->columns = read_columns();
                local->charge = memory_.charge(local->n_bytes());
                node.local = std::move(local);
                node.part = Part::all;
            }
            nodes.push_back(std::move(node));
        }
    }

  private:
    std::size_t n_columns() const { return problem_.extents.n_columns(); }

    BitSet read_columns() {
        BitSet columns(n_columns());
        for (const std::uint32_t column : in_.numbers<std::uint32_t>()) columns.insert(column);
        return columns;
    }

    /// Sets: pairs_, which all local problems of a family have.
    void read_pairs() {
        pairs_ = nullptr;
        if (in_.number<std::uint8_t>() != 0)
            pairs_ = std::make_shared<PairGraph>(n_columns(), in_.numbers<Pairs::value_type>());
    }

    std::shared_ptr<LocalProblem> make_local(Columns prefix, std::size_t n_conditions) const {
        auto local =
            std::make_shared<LocalProblem>(within(problem_, std::move(prefix), n_conditions));
        local->slopes = slopes_;
        local->pairs = pairs_;
        return local;
    }

    /// The columns of an axis were together once, and are so again if nothing else is there.
    void read_axes(LocalProblem& local) {
        const std::size_t n_axes = in_.count();
        for (std::size_t axis = 0; axis < n_axes; ++axis) {
            for (Axis& made : make_axes(features_, local.rows, read_columns(), max_bins,
                                        local.n_conditions > 2, local.allowed_pairs()))
                local.axes.push_back(std::move(made));
        }
        // What terms imitate of a row is not added up.
        if (problem_.refitted.empty()) local.merge_rows();
    }

    ByteReader& in_;
    const Problem& problem_;
    const std::vector<Feature>& features_;
    const MemoryAccount& memory_;
    std::array<SlopeRange, 2> slopes_ = {};
    std::shared_ptr<const PairGraph> pairs_;
};

}  // namespace

void write(const std::vector<Node>& nodes, ByteWriter& out) {
    std::vector<std::vector<const Node*>> families;
    std::unordered_map<const LocalProblem*, std::size_t> family_of;
    for (const Node& node : nodes) {
        const auto [entry, is_new] = family_of.try_emplace(node.local.get(), families.size());
        if (is_new) families.emplace_back();
        families[entry->second].push_back(&node);
    }
    for (const auto& family : families) write_family(family, out);
}

std::vector<Node> read(ByteReader& in, const Problem& problem, const std::vector<Feature>& features,
                       const MemoryAccount& memory) {
    std::vector<Node> nodes;
    FamilyReader reader(in, problem, features, memory);
    while (!in.is_at_end()) reader.read(nodes);
    return nodes;
}

}  // namespace rulesearch::tables

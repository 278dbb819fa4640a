#include "librulesearch/conditions/search.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "librulesearch/beam/beam.hpp"
#include "librulesearch/conditions/node.hpp"
#include "librulesearch/conditions/node_bytes.hpp"
#include "librulesearch/engine/best_first.hpp"

namespace rulesearch::conditions {
namespace {

/// See BestFirst.
struct Branching : OptionalHooks<Node> {
    using Node = conditions::Node;

    const Problem& problem;
    const Limits& limits;
    const Kernels& kernels;
    const std::size_t beam_width;
    const std::function<std::unique_ptr<Expander>()>& make_expander;
    const bool is_limited = !has_core_queries(limits, problem.extents.n_columns());

    void find_incumbent(Incumbent& incumbent, const Interrupt& interrupt) const {
        Counters beam_counters;  // the beam's nodes are not the proof's
        if (beam_width > 0)
            extend_beam(problem, limits, kernels, beam_width, incumbent, beam_counters, interrupt);
    }

    /// The true query, with every column as an augmentation that nothing is known about.
    std::vector<Node> roots(double bound, const Incumbent&) const {
        auto siblings = std::make_shared<Siblings>();
        const std::size_t n_columns = problem.extents.n_columns();
        siblings->excluded = BitSet(n_columns);
        for (std::uint32_t column = 0; column < n_columns; ++column)
            siblings->augmentations.push_back({column, column, bound});
        return {{bound, {}, std::move(siblings), 0}};
    }

    /// Longer ties are given up where the length of a query is that of its node, and not of a
    /// shorter equivalent: under a limit on the length. And nothing is shorter than no condition.
    Pruning goal(const Incumbent& incumbent) const {
        const std::size_t size = incumbent.n_conditions();
        return {incumbent.wanted(), limits.approximation_factor,
                is_limited || size == 0 ? std::optional(size) : std::nullopt, problem.slack(),
                limits.n_best > 1};
    }

    void take(const Expansion& expansion, Incumbent& incumbent) const {
        for (const Offer& offer : expansion.offers)
            incumbent.offer(offer.value, {offer.query.begin(), offer.query.end()});
    }

    /// Children share their parent's rows while little memory is used; else each of them will have
    /// to collect its own.
    void prepare_children(Expansion& expansion, const MemoryAccount& memory) const {
        if (expansion.children.empty()) return;
        Siblings& siblings = *expansion.siblings;
        if (memory.used() + siblings.rows.n_bytes() > memory.limit() / 4) siblings.rows = {};
        siblings.charge = memory.charge(siblings.n_bytes());
    }

    void write(const std::vector<Node>& nodes, ByteWriter& out) const {
        conditions::write(nodes, out);
    }
    std::vector<Node> read(ByteReader& in, const MemoryAccount& memory) const {
        return conditions::read(in, problem.extents.n_columns(), memory);
    }
    const void* group(const Node& node) const { return node.siblings.get(); }
};

}  // namespace

Result search(const Problem& problem, const Limits& limits, const Resources& resources,
              const Piece& piece, const Kernels& kernels, std::size_t beam_width,
              const std::function<std::unique_ptr<Expander>()>& make_expander) {
    Branching branching{{}, problem, limits, kernels, beam_width, make_expander};
    return BestFirst(problem, limits, resources, piece, branching).solve();
}

}  // namespace rulesearch::conditions

// Nodes of the search tree, what their expansion yields, and when they are given up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "librulesearch/engine/open_nodes.hpp"
#include "librulesearch/kernels/keyed_rows.hpp"
#include "librulesearch/problem/bits.hpp"
#include "librulesearch/problem/problem.hpp"

namespace rulesearch::conditions {

/// One more column for a query, with what is known about the augmented query.
struct Augmentation {
    std::uint32_t index;
    std::uint32_t critical_index;
    double bound;
};

using AugmentationList = std::vector<Augmentation>;

/// What the children of a node share.
struct Siblings {
    AugmentationList augmentations;  // each child may use those behind its own
    BitSet excluded;                 // columns that no query below may contain
    KeyedRows rows;                  // of the parent, bit i for augmentation i; or none
    bool is_examined = true;         // whether pruning of children was tried
    MemoryCharge charge;

    std::size_t n_bytes() const {
        return sizeof(Siblings) + augmentations.capacity() * sizeof(Augmentation) +
               excluded.words().capacity() * sizeof(Word) + rows.n_bytes();
    }
};

/// A query still to be augmented.
struct Node {
    double bound;
    std::vector<std::uint32_t> query;  // columns, in the order in which they were added
    std::shared_ptr<const Siblings> siblings;
    std::size_t next_sibling = 0;  // position of the first augmentation it may use

    /// Heap order: the largest bound on top, of equal ones the first query.
    bool operator<(const Node& other) const {
        return bound != other.bound ? bound < other.bound : query > other.query;
    }

    /// Conditions of the query with one more.
    std::size_t augmented_size() const { return query.size() + 1; }
    std::size_t n_bytes() const { return sizeof(Node) + query.capacity() * sizeof(query[0]); }
};

struct Offer {
    double value;
    std::vector<std::uint32_t> query;
};

/// What the expansion of one node yields.
struct Expansion : BasicExpansion<Node> {
    std::shared_ptr<Siblings> siblings;  // of all children
    std::vector<Offer> offers;
};

/// Decides whether a bound is good for nothing.
class Pruning {
  public:
    /// `incumbent_size`: conditions of the incumbent if longer ties are to be given up, else
    /// nothing.
    /// `slack`: see Problem. `wants_several`: queries better than the incumbent are all wanted.
    Pruning(double incumbent_value, double approximation_factor,
            std::optional<std::size_t> incumbent_size, double slack = rounding_slack,
            bool wants_several = false)
        // A little less than the quotient, so that the ratio reached is not a rounding below.
        : approximation_factor_(approximation_factor),
          threshold_(approximation_factor < 1.0
                         ? incumbent_value / approximation_factor * (1.0 - 1e-15)
                         : incumbent_value * (1.0 - slack)),
          incumbent_value_(incumbent_value),
          incumbent_size_(incumbent_size.value_or(std::numeric_limits<std::size_t>::max())),
          slack_(slack),
          is_relaxed_(approximation_factor < 1.0),
          wants_several_(wants_several) {}

    /// No query under the bound with at least that many conditions can replace the incumbent, or
    /// gains enough to be asked for.
    bool operator()(double bound, std::size_t n_conditions) const {
        if (is_relaxed_ ? bound <= threshold_ : bound < threshold_) return true;
        return bound <= incumbent_value_ && n_conditions > incumbent_size_;
    }
    bool can_prune(const Node& node) const { return (*this)(node.bound, node.augmented_size()); }

    /// The same for a better incumbent, if it is one.
    Pruning raised(double value, std::optional<std::size_t> size) const {
        if (value <= incumbent_value_ || wants_several_) return *this;
        return {value, approximation_factor_, size, slack_};
    }

    bool wants_several() const { return wants_several_; }

    /// A query of this value is at least as good as the incumbent.
    bool is_competitive(double value) const { return value >= incumbent_value_; }

    /// The bound if pruning it leaves something unproven, else 0.
    double unproven(double bound) const { return bound > incumbent_value_ ? bound : 0.0; }

    /// Whatever is proven to be below this can be pruned.
    double threshold() const { return threshold_; }

    /// Bounds below this need not be exact.
    double floor() const { return incumbent_value_ * (1.0 - 2.0 * slack_); }

  private:
    double approximation_factor_;
    double threshold_;
    double incumbent_value_;
    std::size_t incumbent_size_;
    double slack_;
    bool is_relaxed_;
    bool wants_several_;
};

/// Offers the best augmentations of a node's query, if they are as good as the incumbent; all that
/// are, where several are wanted.
/// `for_each(visit)` calls `visit(column, value)` for all of them, with 0 for those that do not
/// count. Returns the best value, 0 if nothing was offered.
template <typename ForEach>
double offer_best(const Node& node, const Pruning& can_prune, Expansion& out, ForEach&& for_each) {
    double best = 0.0;
    for_each([&](std::uint32_t, double value) { best = std::max(best, value); });
    if (best == 0.0 || !can_prune.is_competitive(best)) return 0.0;
    const bool wants_several = can_prune.wants_several();
    for_each([&](std::uint32_t column, double value) {
        if (wants_several ? value == 0.0 || !can_prune.is_competitive(value) : value < best) return;
        out.offers.push_back({value, node.query});
        out.offers.back().query.push_back(column);
    });
    return best;
}

/// Whether equivalent queries can stand for each other. They may differ in length, so that under a
/// limit on the length only those of equal length can.
inline bool has_core_queries(const Limits& limits, std::size_t n_columns) {
    return limits.max_conditions >= n_columns;
}

}  // namespace rulesearch::conditions

// Turning a node of the search tree into its children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "librulesearch/augmentations.hpp"
#include "librulesearch/control.hpp"
#include "librulesearch/problem.hpp"
#include "librulesearch/row_classes.hpp"
#include "librulesearch/search_tree.hpp"

namespace rulesearch {

/// Expands nodes. Each worker has one, so that its buffers are its own.
///
/// What all have in common: the rows of the query, the augmentations that are not pruned by what is
/// known from ancestors, sums and bounds of the others, and the best of them offered as incumbents.
/// They differ in the bound and in how they `branch`.
class Expander {
  public:
    Expander(const Problem& problem, const Limits& limits, Bound bound);
    virtual ~Expander() = default;

    Expansion expand(const Node& node, const Pruning& can_prune, const Interrupt& interrupt);

  protected:
    /// Whether an equivalent query is looked at elsewhere, and this one need not be.
    virtual bool is_redundant(const Node& node) const = 0;
    /// Whether an augmentation is known to lead only to such queries.
    virtual bool is_redundant(const Node& node, const Augmentation& augmentation) const = 0;
    /// Appends the children. Returns false if it was interrupted.
    virtual bool branch(const Node& node, const Pruning& can_prune, const Interrupt& interrupt,
                        Expansion& out) = 0;

    /// Number of conditions of the node's augmentations.
    static std::size_t n_conditions(const Node& node) { return node.query.size() + 1; }

    /// Augmentations whose bounds leave hope, with these bounds.
    AugmentationList survivors(const Node& node, const Pruning& can_prune, Expansion& out) const;
    /// Keeps the first of augmentations that cover the same rows; returns how many went.
    ///
    /// Exchanging a column for another one with the same rows under this query changes neither the
    /// extent nor the length of a refinement.
    std::size_t drop_twins(AugmentationList& augmentations) const;

    const Problem& problem_;
    const Limits& limits_;
    const Bound bound_;
    const bool has_core_queries_;
    RowClasses classes_;
    AugmentationTable augmented_;
    BitSet implied_;  // columns that contain all rows of the query

  private:
    void collect_rows(const Node& node);
    BitSet select_candidates(const Node& node, const Pruning& can_prune, Expansion& out);
    void make_offers(const Node& node, const BitSet& candidates, const Pruning& can_prune,
                     Expansion& out) const;

    BitSet extent_;
    std::vector<std::uint32_t> rows_;
    AugmentationList open_;
};

/// Algorithm 1 of the paper: a fixed order of columns, core queries and critical indices.
std::unique_ptr<Expander> make_paper_expander(const Problem& problem, const Limits& limits);

/// Bounds by row classes, a new order of columns at every node, and children that are proven to be
/// in vain before they are born.
std::unique_ptr<Expander> make_class_expander(const Problem& problem, const Limits& limits);

}  // namespace rulesearch

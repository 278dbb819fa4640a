#include <algorithm>
#include <optional>

#include "librulesearch/expander.hpp"
#include "librulesearch/tangent_proof.hpp"

namespace rulesearch {
namespace {

/// The rows of a node as its children see them, one child after the other.
///
/// Columns are numbered by their place in the node's order, and a row's key has the bit of each
/// column that contains it. Child t may use columns behind t only. The rows are kept in descending
/// order of their keys, read as numbers, so that clearing the lowest bit used leaves them in order,
/// and rows that have become equal are neighbours.
template <std::size_t K>
class SuffixRows {
  public:
    using Row = KeyedRow<K>;

    void assign(const RowClasses& classes, const AugmentationList& columns, std::size_t n_columns) {
        rank_.assign(n_columns, no_rank);
        for (std::size_t t = 0; t < columns.size(); ++t) rank_[columns[t].index] = t;
        rows_.clear();
        for (const auto* part : {&classes.positive(), &classes.negative(), &classes.neutral()}) {
            for (const RowClass& row_class : *part) {
                rows_.push_back({row_class.sums.gradient, row_class.sums.hessian,
                                 key(classes.signature(row_class), n_columns)});
            }
        }
        if (classes.has_base()) {
            Key<K> all{};
            for (std::size_t t = 0; t < columns.size(); ++t) set_bit(all, t);
            rows_.push_back({classes.base().gradient, classes.base().hessian, all});
        }
        std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
            return std::lexicographical_compare(b.key.rbegin(), b.key.rend(), a.key.rbegin(),
                                                a.key.rend());
        });
        merge_neighbours();
    }

    /// The rows of child t without those in none or in all of its candidates; to be called for
    /// t = 0, 1, ... in turn. Sets: `forced`. Nothing if the child has no proper refinement.
    std::optional<std::span<const Row>> next_child(std::size_t t, ForcedRows& forced) {
        child_.clear();
        Key<K> in_any{}, in_all;
        in_all.fill(~Word{0});
        for (Row& row : rows_) {
            const bool is_covered = clear_bit(row.key, t);
            if (!is_covered) continue;
            child_.push_back(row);
            for (std::size_t w = 0; w < K; ++w) {
                in_any[w] |= row.key[w];
                in_all[w] &= row.key[w];
            }
        }
        merge_neighbours();
        forced = {};
        if (child_.empty() || are_equal(in_any, in_all)) return std::nullopt;
        // Keys go down: the row in all candidates, if there is one, comes first, the row in none
        // last.
        std::span<const Row> free = child_;
        if (are_equal(free.front().key, in_any)) {
            forced = {free.front().gradient, free.front().hessian};
            free = free.subspan(1);
        }
        if (!free.empty() && are_equal(free.back().key, in_all)) free = free.first(free.size() - 1);
        return free;
    }

  private:
    static constexpr std::size_t no_rank = static_cast<std::size_t>(-1);

    static void set_bit(Key<K>& key, std::size_t t) {
        key[t / word_bits] |= Word{1} << (t % word_bits);
    }
    static bool clear_bit(Key<K>& key, std::size_t t) {
        Word& word = key[t / word_bits];
        const Word bit = Word{1} << (t % word_bits);
        const bool was_set = (word & bit) != 0;
        word &= ~bit;
        return was_set;
    }

    Key<K> key(const Word* signature, std::size_t n_columns) const {
        Key<K> key{};
        for (std::size_t w = 0; w < n_words(n_columns); ++w) {
            for_each_bit(signature[w], w * word_bits, [&](std::size_t column) {
                if (rank_[column] != no_rank) set_bit(key, rank_[column]);
            });
        }
        return key;
    }

    void merge_neighbours() {
        std::size_t n_kept = 0;
        for (const Row& row : rows_) {
            if (n_kept > 0 && are_equal(rows_[n_kept - 1].key, row.key)) {
                rows_[n_kept - 1].gradient += row.gradient;
                rows_[n_kept - 1].hessian += row.hessian;
            } else {
                rows_[n_kept++] = row;
            }
        }
        rows_.resize(n_kept);
        if (!rows_.empty() && are_equal(rows_.back().key, Key<K>{})) rows_.pop_back();
    }

    std::vector<std::size_t> rank_;
    std::vector<Row> rows_, child_;
};

class ClassExpander final : public Expander {
  public:
    ClassExpander(const Problem& problem, const Limits& limits)
        : Expander(problem, limits, Bound::row_classes) {}

  private:
    /// All rows lie in a column that was excluded on the way here: adding it changes nothing, and
    /// what contains it is looked at, or given up, in its own branch.
    bool is_redundant(const Node& node) const override {
        if (!has_core_queries_) return false;
        const AugmentationList& augmentations = node.siblings->augmentations;
        if (implied_.intersects(node.siblings->excluded)) return true;
        for (std::size_t i = 0; i + 1 < node.next_sibling; ++i) {
            if (implied_.contains(augmentations[i].index)) return true;
        }
        return false;
    }

    bool is_redundant(const Node&, const Augmentation&) const override { return false; }

    bool branch(const Node& node, const Pruning& can_prune, const Interrupt& interrupt,
                Expansion& out) override {
        auto siblings = std::make_shared<Siblings>();
        AugmentationList& augmentations = siblings->augmentations;
        augmentations = survivors(node, can_prune, out);
        out.counters.equivalence_immediate += drop_twins(augmentations);
        if (augmentations.size() < 2) return true;
        std::stable_sort(
            augmentations.begin(), augmentations.end(),
            [](const Augmentation& a, const Augmentation& b) { return a.bound < b.bound; });
        siblings->excluded = node.siblings->excluded;
        for (std::size_t i = 0; i + 1 < node.next_sibling; ++i) {
            siblings->excluded.insert(node.siblings->augmentations[i].index);
        }
        // With more candidates than the widest key has bits, children are made unexamined.
        const std::size_t n_columns = augmentations.size();
        if (n_columns <= 64) return add_children<1>(node, siblings, can_prune, interrupt, out);
        if (n_columns <= 128) return add_children<2>(node, siblings, can_prune, interrupt, out);
        if (n_columns <= 256) return add_children<4>(node, siblings, can_prune, interrupt, out);
        if (n_columns <= 512) return add_children<8>(node, siblings, can_prune, interrupt, out);
        for (std::size_t t = 0; t + 1 < n_columns; ++t) add_child(node, siblings, t, out);
        return true;
    }

    template <std::size_t K>
    bool add_children(const Node& node, const std::shared_ptr<Siblings>& siblings,
                      const Pruning& can_prune, const Interrupt& interrupt, Expansion& out) {
        const double threshold = can_prune.threshold();
        SuffixRows<K> suffix_rows;
        TangentProof<K> proof;
        suffix_rows.assign(classes_, siblings->augmentations, problem_.propositions.n_columns());
        for (std::size_t t = 0; t + 1 < siblings->augmentations.size(); ++t) {
            if (interrupt.is_requested()) return false;
            ForcedRows forced;
            const auto rows = suffix_rows.next_child(t, forced);
            if (!rows) continue;
            if (proof.holds(*rows, forced, problem_.l2_regularization, threshold)) {
                ++out.counters.bound_immediate;
                out.relaxed_bound = std::max(out.relaxed_bound, can_prune.relaxation(threshold));
            } else {
                add_child(node, siblings, t, out);
            }
        }
        return true;
    }

    static void add_child(const Node& node, const std::shared_ptr<Siblings>& siblings,
                          std::size_t t, Expansion& out) {
        const Augmentation& augmentation = siblings->augmentations[t];
        out.children.push_back(
            {std::min(augmentation.bound, node.bound), node.query, siblings, t + 1});
        out.children.back().query.push_back(augmentation.index);
    }
};

}  // namespace

std::unique_ptr<Expander> make_class_expander(const Problem& problem, const Limits& limits) {
    return std::make_unique<ClassExpander>(problem, limits);
}

}  // namespace rulesearch

#include "librulesearch/conditions/candidates.hpp"

#include <utility>

#include "librulesearch/kernels/proof_workspace.hpp"
#include "librulesearch/problem/discounted.hpp"

namespace rulesearch::conditions {

void Candidates::take(const Node& node) {
    columns_.clear();
    known_bounds_.clear();
    const KeyedRows& from = node.siblings->rows;
    if (from.size() == 0) {
        const BitSet extent = problem_.extents.extent_of(node.query);
        if (problem_.refitted.empty()) {
            take_from_table(node, extent, problem_);
        } else {
            take_from_table(node, extent, discounted(problem_, extent));
        }
        return;
    }
    const std::size_t t = node.next_sibling - 1, first = t / word_bits;
    const AugmentationList& augmentations = node.siblings->augmentations;
    for (std::size_t i = first * word_bits; i < augmentations.size(); ++i) {
        columns_.push_back(augmentations[i].index);
        known_bounds_.push_back(augmentations[i].bound);
    }
    rows_.take_child(from, t, selected_);
    rows_.merge_neighbours();
}

/// The same without the help of the parent's rows; a position is a column.
void Candidates::take_from_table(const Node& node, const BitSet& extent, const Problem& problem) {
    const Extents& extents = problem.extents;
    std::vector<Word> mask(extents.stride(), 0);
    columns_.resize(extents.n_columns());
    known_bounds_.assign(extents.n_columns(), 0.0);
    const AugmentationList& augmentations = node.siblings->augmentations;
    for (std::size_t column = 0; column < columns_.size(); ++column)
        columns_[column] = static_cast<std::uint32_t>(column);
    for (std::size_t i = node.next_sibling; i < augmentations.size(); ++i) {
        set_bit(mask, augmentations[i].index);
        known_bounds_[augmentations[i].index] = augmentations[i].bound;
    }
    const std::size_t n_rows = extent.size();
    const bool is_root = node.query.empty() && augmentations.size() == extents.n_columns();
    if (!is_root) classes_.reset(n_rows);
    KeyedRows& rows = is_root ? rows_ : other_;
    rows.reset(n_rows, extents.stride(), has_coverages_);
    extent.for_each([&](std::size_t row) {
        for (std::size_t p = 0; p < rows.n_planes(); ++p)
            rows.plane(p)[rows.size()] = extents.signature(row)[p] & mask[p];
        if (is_root) {
            rows.push(problem.rows[row]);  // distinct already
        } else {
            classes_.push(problem.rows[row], rows);
        }
    });
    if (is_root) return;
    // Only pairs of rows gain from an order.
    if (rows.size() <= ProofWorkspace::max_paired_rows) {
        orders_.sort_by_key(other_, rows_);
    } else {
        std::swap(other_, rows_);
    }
}

bool Candidates::select(const Node& node, const Pruning& can_prune, Expansion& out) {
    const std::size_t n_planes = rows_.n_planes();
    positions_.assign(n_planes, 0);
    size_ = 0;
    const std::size_t first =
        node.siblings->rows.size() == 0
            ? 0
            : node.next_sibling - (node.next_sibling - 1) / word_bits * word_bits;
    for (std::size_t p = 0; p < n_planes; ++p) {
        const auto [in_any, in_all] = rows_.in_any_and_all(p);
        for_each_bit(in_any, p * word_bits, [&, in_all = in_all](std::size_t position) {
            if (position < first) return;
            const Word bit = Word{1} << (position % word_bits);
            if ((in_all & bit) != 0) {
                ++out.counters.equivalence_immediate;
            } else if (can_prune(known_bounds_[position], node.augmented_size())) {
                ++out.counters.bound_propagated;
                out.note_pruned(can_prune.unproven(known_bounds_[position]));
            } else {
                positions_[p] |= bit;
                ++size_;
            }
        });
    }
    remove_constant_rows();
    return size_ > 0;
}

/// Moves rows in all or none of the candidates out of the others.
void Candidates::remove_constant_rows() {
    forced_ = {};
    has_forced_ = false;
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        Word any = 0, lacking = 0;
        for (std::size_t p = 0; p < rows_.n_planes(); ++p) {
            const Word key = rows_.plane(p)[i] & positions_[p];
            rows_.plane(p)[n_kept] = key;
            any |= key;
            lacking |= positions_[p] & ~key;
        }
        if (lacking == 0) {
            forced_ += rows_.sums(i);
            has_forced_ = true;
        } else if (any != 0) {
            rows_.set(n_kept++, rows_.sums(i));
        }
    }
    rows_.resize(n_kept);
}

void Candidates::bound(double floor) {
    orders_.sort_by_ratio(rows_, other_);
    const std::size_t n_positions = rows_.n_planes() * word_bits;
    for (auto* values : {&gradients_, &hessians_, &coverages_, &bounds_}) {
        if (values->size() < n_positions) values->resize(n_positions);
    }
    kernels_.bound_columns(other_.view(), orders_.n_positive(), orders_.n_negative(),
                           {forced_.gradient, forced_.hessian}, problem_.l2_regularization, floor,
                           positions_.data(), {gradients_.data(), hessians_.data()},
                           bounds_.data());
    if (!has_coverages_) return;
    kernels_.sum_columns(rows_.coverage_view(), {coverages_.data(), coverages_.data()});
    for (double& coverage : coverages_) coverage += forced_.coverage;
}

}  // namespace rulesearch::conditions

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "librulesearch/expander.hpp"
#include "librulesearch/leaves.hpp"
#include "librulesearch/suffix_rows.hpp"

namespace rulesearch {
namespace {

// Nodes with more rows times columns leave it to each child to be proven in vain, so that several
// threads can share the work.
constexpr std::size_t most_examined_at_once = 4'000'000;
// With more rows, pairs of them would take too much time and memory.
constexpr std::size_t most_paired_rows = 1 << 15;
// Shorter chains, on average, cost more than they save.
constexpr std::size_t least_chain_length = 4;
// Children with so few columns are solved without a look for a proof.
constexpr std::size_t few_columns = 7;

class ClassExpander final : public Expander {
  public:
    ClassExpander(const Problem& problem, const Limits& limits, const Kernels& kernels,
                  const Ingredients& ingredients)
        : problem_(problem),
          limits_(limits),
          kernels_(kernels),
          ingredients_(ingredients),
          has_core_queries_(has_core_queries(limits, problem.propositions.n_columns())),
          needs_coverage_(limits.min_coverage > 0.0),
          most_leaf_columns_(ingredients.leaves ? Leaves::most_columns : 0),
          leaves_(problem, limits, kernels) {}

    Expansion expand(const Node& node, const Pruning& can_prune,
                     const Interrupt& interrupt) override;

  private:
    bool is_redundant(const Node& node) const;
    void take_rows(const Node& node);
    void take_rows_of_table(const Node& node);
    bool select_candidates(const Node& node, const Pruning& can_prune, Expansion& out);
    bool is_proven(const Pruning& can_prune);
    void sort_rows();
    void bound_candidates(const Pruning& can_prune);
    double make_offers(const Node& node, const Pruning& can_prune, Expansion& out) const;
    void select_survivors(const Node& node, const Pruning& can_prune, Expansion& out);
    void transpose_keys();
    std::size_t drop_twins();
    bool order_survivors();
    void key_rows();
    void order_rows();
    static void add_child(const Node& node, std::size_t t, Expansion& out);
    bool examine_children(const Node& node, const AugmentationList& augmentations,
                          const Pruning& can_prune, const Interrupt& interrupt, Expansion& out);
    bool branch(const Node& node, const Pruning& can_prune, const Interrupt& interrupt,
                Expansion& out);
    void solve_rest(const Node& node, std::size_t t, const KeyedRows& rows,
                    const AugmentationList& augmentations, const Pruning& can_prune,
                    Expansion& out);
    void solve_child(const Node& node, std::size_t t, const AugmentationList& augmentations,
                     const Pruning& can_prune, Expansion& out);
    ProofEffort effort(const RowsView& rows) const {
        return {ingredients_.closure && rows.size <= most_paired_rows, ingredients_.intersection};
    }
    ProofBuffers proof_buffers(const RowsView& rows);
    /// Chains of the survivors in the planes from the first one given on.
    ChainsView chains(std::size_t first_plane) const {
        if (!has_chains_) return {nullptr, suffix_.candidates().data(), 0};
        const std::size_t first = first_plane * word_bits;
        return {below_.data() + first, tops_.data() + first_plane,
                static_cast<std::int32_t>(first)};
    }

    static std::size_t n_conditions(const Node& node) { return node.query.size() + 1; }
    std::uint32_t column_at(std::size_t position) const { return columns_[position]; }
    Statistics sums(std::size_t position) const {
        return {column_gradients_[position], column_hessians_[position],
                column_coverages_[position]};
    }

    const Problem& problem_;
    const Limits& limits_;
    const Kernels& kernels_;
    const Ingredients ingredients_;
    const bool has_core_queries_;
    const bool needs_coverage_;
    const std::size_t most_leaf_columns_;
    Leaves leaves_;

    // The node in hand. A *position* is a bit of its rows' keys.
    KeyedRows rows_;     // neither forced nor in no candidate; later in the order of keys
    KeyedRows other_;    // the same in another order
    Statistics forced_;  // rows in all candidates
    bool has_forced_ = false;
    std::vector<std::uint32_t> columns_;  // by position
    std::vector<double> known_bounds_;    // by position, from the parent
    std::vector<Word> candidates_;        // positions
    std::size_t n_candidates_ = 0;

    struct Ranked {
        double ratio;
        std::uint32_t row;
    };
    struct Rank {
        Word key;
        std::uint32_t row;
    };
    std::vector<Rank> ranks_;
    std::vector<Ranked> positive_, negative_;
    std::vector<std::uint32_t> neutral_;
    std::vector<double> column_gradients_, column_hessians_, column_coverages_, column_bounds_;

    struct Survivor {
        std::uint32_t position;
        double bound;
    };
    std::vector<Survivor> survivors_;
    std::vector<std::int32_t> below_;  // by survivor: the next smaller one in its chain, or -1
    std::vector<Word> tops_;           // survivors with none above them
    bool has_chains_ = false;
    std::vector<double> chain_bounds_;
    std::vector<std::int32_t> chain_tops_;
    bool is_transposed_ = false;
    std::vector<Word> columns_of_rows_;  // by position: bits over rows
    std::vector<std::uint32_t> permutation_;
    SuffixRows suffix_;
    std::vector<std::uint32_t> leaf_columns_, leaf_keys_;

    std::vector<double> takers_, holders_;
    std::vector<Word> row_columns_, taker_set_, holder_set_, near_takers_, tight_keys_, frontier_;
};

Expansion ClassExpander::expand(const Node& node, const Pruning& can_prune,
                                const Interrupt& interrupt) {
    Expansion out;
    out.is_complete = true;
    if (is_redundant(node)) {
        ++out.counters.equivalence_immediate;
        return out;
    }
    take_rows(node);
    if (!select_candidates(node, can_prune, out)) return out;
    if (!node.siblings->is_examined && is_proven(can_prune)) {
        ++out.counters.bound_immediate;
        out.relaxed_bound =
            std::max(out.relaxed_bound, can_prune.relaxation(can_prune.threshold()));
        return out;
    }
    if (interrupt.is_requested()) {
        out.is_complete = false;
        return out;
    }
    sort_rows();
    bound_candidates(can_prune);
    out.counters.n_evaluations += n_candidates_;
    const double best = make_offers(node, can_prune, out);
    if (n_conditions(node) >= limits_.max_conditions) return out;
    const Pruning raised = can_prune.raised(
        best, has_core_queries_ ? std::nullopt : std::optional(n_conditions(node)));
    select_survivors(node, raised, out);
    out.is_complete = branch(node, raised, interrupt, out);
    return out;
}

/// All rows lie in a column that was excluded on the way here: adding it changes nothing, and what
/// contains it is looked at, or given up, in its own branch.
bool ClassExpander::is_redundant(const Node& node) const {
    if (!has_core_queries_ || !ingredients_.canonicity || node.query.empty()) return false;
    const Propositions& propositions = problem_.propositions;
    BitSet extent = propositions.extent(node.query.front());
    for (std::size_t k = 1; k < node.query.size(); ++k)
        extent &= propositions.extent(node.query[k]);
    bool is_implied = false;
    node.siblings->excluded.for_each([&](std::size_t column) {
        is_implied = is_implied || extent.is_subset_of(propositions.extent(column));
    });
    for (std::size_t i = 0; i + 1 < node.next_sibling && !is_implied; ++i) {
        is_implied =
            extent.is_subset_of(propositions.extent(node.siblings->augmentations[i].index));
    }
    return is_implied;
}

/// Sets: rows_, columns_ and known_bounds_.
void ClassExpander::take_rows(const Node& node) {
    columns_.clear();
    known_bounds_.clear();
    const KeyedRows& from = node.siblings->rows;
    if (from.size() == 0) {
        take_rows_of_table(node);
        return;
    }
    const std::size_t t = node.next_sibling - 1, first = t / word_bits;
    const AugmentationList& augmentations = node.siblings->augmentations;
    for (std::size_t i = first * word_bits; i < augmentations.size(); ++i) {
        columns_.push_back(augmentations[i].index);
        known_bounds_.push_back(augmentations[i].bound);
    }
    rows_.take_child(from, t, permutation_);
    if (ingredients_.row_classes) rows_.merge_neighbours();
}

/// The same without the help of the parent's rows; a position is a column.
void ClassExpander::take_rows_of_table(const Node& node) {
    const Propositions& propositions = problem_.propositions;
    BitSet extent(propositions.n_distinct_rows(), true);
    for (const std::uint32_t column : node.query) extent &= propositions.extent(column);
    std::vector<Word> mask(propositions.stride(), 0);
    columns_.resize(propositions.n_columns());
    known_bounds_.assign(propositions.n_columns(), 0.0);
    const AugmentationList& augmentations = node.siblings->augmentations;
    for (std::size_t column = 0; column < columns_.size(); ++column)
        columns_[column] = static_cast<std::uint32_t>(column);
    for (std::size_t i = node.next_sibling; i < augmentations.size(); ++i) {
        const std::uint32_t column = augmentations[i].index;
        mask[column / word_bits] |= Word{1} << (column % word_bits);
        known_bounds_[column] = augmentations[i].bound;
    }
    const auto take = [&](KeyedRows& rows, std::size_t row) {
        const std::size_t i = rows.size();
        rows.push(problem_.rows[row]);
        for (std::size_t p = 0; p < rows.n_planes(); ++p)
            rows.plane(p)[i] = propositions.signature(row)[p] & mask[p];
    };
    const std::size_t n_rows = extent.size();
    const bool is_root = node.query.empty() && augmentations.size() == propositions.n_columns();
    KeyedRows& rows = is_root ? rows_ : other_;  // those of the root are distinct already
    rows.reset(n_rows, propositions.stride(), needs_coverage_);
    extent.for_each([&](std::size_t row) { take(rows, row); });
    if (!is_root) order_rows();
}

/// Sets: candidates_, and moves rows in all or none of them out of rows_. Returns false if there is
/// no candidate.
bool ClassExpander::select_candidates(const Node& node, const Pruning& can_prune, Expansion& out) {
    const std::size_t n_planes = rows_.n_planes();
    candidates_.assign(n_planes, 0);
    n_candidates_ = 0;
    const std::size_t first =
        node.siblings->rows.size() == 0
            ? 0
            : node.next_sibling - (node.next_sibling - 1) / word_bits * word_bits;
    for (std::size_t p = 0; p < n_planes; ++p) {
        Word in_any = 0, in_all = ~Word{0};
        const Word* plane = rows_.plane(p);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            in_any |= plane[i];
            in_all &= plane[i];
        }
        for_each_bit(in_any, p * word_bits, [&](std::size_t position) {
            if (position < first) return;
            const Word bit = Word{1} << (position % word_bits);
            if ((in_all & bit) != 0) {
                ++out.counters.equivalence_immediate;
            } else if (can_prune(known_bounds_[position], n_conditions(node))) {
                ++out.counters.bound_propagated;
                out.relaxed_bound =
                    std::max(out.relaxed_bound, can_prune.relaxation(known_bounds_[position]));
            } else {
                candidates_[p] |= bit;
                ++n_candidates_;
            }
        });
    }
    forced_ = {};
    has_forced_ = false;
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        Word any = 0, lacking = 0;
        for (std::size_t p = 0; p < n_planes; ++p) {
            const Word key = rows_.plane(p)[i] & candidates_[p];
            rows_.plane(p)[n_kept] = key;
            any |= key;
            lacking |= candidates_[p] & ~key;
        }
        if (lacking == 0) {
            forced_ += rows_.sums(i);
            has_forced_ = true;
        } else if (any != 0) {
            rows_.set(n_kept++, rows_.sums(i));
        }
    }
    rows_.resize(n_kept);
    return n_candidates_ > 0;
}

/// What a parent with too many rows left undone.
bool ClassExpander::is_proven(const Pruning& can_prune) {
    if (!ingredients_.tangents) return false;
    // Keys are in descending order, unless candidates have gone; proofs do not depend on it.
    const RowsView rows = rows_.view();
    return kernels_.proves(rows, {nullptr, candidates_.data(), 0},
                           {forced_.gradient, forced_.hessian}, problem_.l2_regularization,
                           can_prune.threshold(), effort(rows), proof_buffers(rows));
}

/// Sets: other_, the rows by sign and ratio.
void ClassExpander::sort_rows() {
    std::size_t n_positive = 0, n_negative = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        n_positive += rows_.gradient(i) > 0.0;
        n_negative += rows_.gradient(i) < 0.0;
    }
    positive_.clear();
    positive_.reserve(n_positive);
    negative_.clear();
    negative_.reserve(n_negative);
    neutral_.clear();
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
        const double gradient = rows_.gradient(i), hessian = rows_.hessian(i);
        if (gradient == 0.0) {
            neutral_.push_back(i);
            continue;
        }
        const double ratio =
            hessian > 0.0 ? std::abs(gradient) / hessian : std::numeric_limits<double>::infinity();
        (gradient > 0.0 ? positive_ : negative_).push_back({ratio, i});
    }
    const auto descending = [](const Ranked& a, const Ranked& b) { return a.ratio > b.ratio; };
    std::sort(positive_.begin(), positive_.end(), descending);
    std::sort(negative_.begin(), negative_.end(), descending);
    permutation_.clear();
    permutation_.reserve(rows_.size());
    for (const Ranked& ranked : positive_) permutation_.push_back(ranked.row);
    for (const Ranked& ranked : negative_) permutation_.push_back(ranked.row);
    permutation_.insert(permutation_.end(), neutral_.begin(), neutral_.end());
    other_.gather(rows_, permutation_.data(), permutation_.size());
}

/// Sets: sums and bounds of the candidates.
void ClassExpander::bound_candidates(const Pruning& can_prune) {
    const std::size_t n_positions = rows_.n_planes() * word_bits;
    for (auto* values :
         {&column_gradients_, &column_hessians_, &column_coverages_, &column_bounds_}) {
        if (values->size() < n_positions) values->resize(n_positions);
    }
    kernels_.bound_columns(
        other_.view(), positive_.size(), negative_.size(), {forced_.gradient, forced_.hessian},
        problem_.l2_regularization, can_prune.floor(), candidates_.data(),
        {column_gradients_.data(), column_hessians_.data()}, column_bounds_.data());
    if (limits_.min_coverage == 0.0) return;
    kernels_.sum_columns(rows_.coverage_view(),
                         {column_coverages_.data(), column_coverages_.data()});
    for (double& coverage : column_coverages_) coverage += forced_.coverage;
}

/// Offers the best augmentations if they are as good as the incumbent; returns the best value, 0 if
/// there is none.
double ClassExpander::make_offers(const Node& node, const Pruning& can_prune,
                                  Expansion& out) const {
    const auto value = [&](std::size_t position) {
        const Statistics sums = this->sums(position);
        const bool covers_enough =
            limits_.min_coverage == 0.0 || sums.coverage >= limits_.min_coverage;
        return covers_enough ? problem_.value(sums) : 0.0;
    };
    double best = 0.0;
    const auto for_each_candidate = [&](auto&& visit) {
        for (std::size_t p = 0; p < candidates_.size(); ++p)
            for_each_bit(candidates_[p], p * word_bits, visit);
    };
    for_each_candidate([&](std::size_t position) { best = std::max(best, value(position)); });
    if (best == 0.0 || !can_prune.is_competitive(best)) return 0.0;
    for_each_candidate([&](std::size_t position) {
        if (value(position) < best) return;
        out.offers.push_back({best, node.query});
        out.offers.back().query.push_back(column_at(position));
    });
    return best;
}

/// Sets: survivors_, the candidates whose bounds leave hope.
void ClassExpander::select_survivors(const Node& node, const Pruning& can_prune, Expansion& out) {
    survivors_.clear();
    for (std::size_t p = 0; p < candidates_.size(); ++p) {
        for_each_bit(candidates_[p], p * word_bits, [&](std::size_t position) {
            const double bound = std::min(column_bounds_[position], known_bounds_[position]);
            if (can_prune(bound, n_conditions(node) + 1)) {
                ++out.counters.bound_immediate;
                out.relaxed_bound = std::max(out.relaxed_bound, can_prune.relaxation(bound));
            } else if (limits_.min_coverage == 0.0 ||
                       column_coverages_[position] >= limits_.min_coverage) {
                survivors_.push_back({static_cast<std::uint32_t>(position), bound});
            }
        });
    }
}

/// Sets: columns_of_rows_, unless that is done already.
void ClassExpander::transpose_keys() {
    if (std::exchange(is_transposed_, true)) return;
    const std::size_t n_blocks = n_words(rows_.size());
    columns_of_rows_.resize(rows_.n_planes() * word_bits * n_blocks);
    for (std::size_t p = 0; p < rows_.n_planes(); ++p) {
        const Word* plane = rows_.plane(p);
        for (std::size_t b = 0; b < n_blocks; ++b) {
            Word block[word_bits] = {};
            const std::size_t n = std::min(word_bits, rows_.size() - b * word_bits);
            std::copy_n(plane + b * word_bits, n, block);
            kernels_.transpose(block);
            for (std::size_t j = 0; j < word_bits; ++j)
                columns_of_rows_[(p * word_bits + j) * n_blocks + b] = block[j];
        }
    }
}

/// Keeps the first of the survivors that cover the same rows; returns how many went.
///
/// Exchanging a column for another one with the same rows under this query changes neither the
/// extent nor the length of a refinement.
std::size_t ClassExpander::drop_twins() {
    const std::size_t n_blocks = n_words(rows_.size());
    const auto key = [&](std::uint32_t position) {
        return std::make_tuple(column_gradients_[position], column_hessians_[position], position);
    };
    permutation_.clear();
    for (const Survivor& survivor : survivors_) permutation_.push_back(survivor.position);
    std::sort(permutation_.begin(), permutation_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    const auto have_equal_sums = [&](std::uint32_t a, std::uint32_t b) {
        return column_gradients_[a] == column_gradients_[b] &&
               column_hessians_[a] == column_hessians_[b];
    };
    const auto are_twins = [&](std::uint32_t a, std::uint32_t b) {
        transpose_keys();
        const auto begin = columns_of_rows_.begin() + static_cast<std::ptrdiff_t>(a * n_blocks);
        return std::equal(begin, begin + static_cast<std::ptrdiff_t>(n_blocks),
                          columns_of_rows_.begin() + static_cast<std::ptrdiff_t>(b * n_blocks));
    };
    std::vector<std::uint32_t> twins;
    for (std::size_t first = 0, i = 1; i < permutation_.size(); ++i) {
        if (!have_equal_sums(permutation_[first], permutation_[i])) first = i;
        for (std::size_t k = first; k < i; ++k) {
            if (are_twins(permutation_[k], permutation_[i])) {
                twins.push_back(permutation_[i]);
                break;
            }
        }
    }
    if (twins.empty()) return 0;
    std::sort(twins.begin(), twins.end());
    return std::erase_if(survivors_, [&](const Survivor& survivor) {
        return std::binary_search(twins.begin(), twins.end(), survivor.position);
    });
}

/// Sorts by bound, ascending: strong columns get few candidates. Returns whether there are chains
/// worth the effort. Sets: below_ and tops_.
bool ClassExpander::order_survivors() {
    const auto link = [&](const Survivor& survivor) {
        return problem_.propositions.link(column_at(survivor.position));
    };
    // A column is not worth more than those above it in its chain. Rounding must not hide that, as
    // chains have to be in order.
    std::stable_sort(
        survivors_.begin(), survivors_.end(),
        [&](const Survivor& a, const Survivor& b) { return link(a).level < link(b).level; });
    chain_bounds_.assign(problem_.propositions.n_columns(), 0.0);
    std::size_t n_chains = 0;
    for (Survivor& survivor : survivors_) {
        double& bound = chain_bounds_[link(survivor).chain];
        n_chains += bound == 0.0;
        bound = survivor.bound = std::max(bound, survivor.bound);
    }
    std::stable_sort(survivors_.begin(), survivors_.end(),
                     [](const Survivor& a, const Survivor& b) { return a.bound < b.bound; });
    if (survivors_.size() < least_chain_length * n_chains) return false;

    below_.assign(n_words(survivors_.size()) * word_bits, -1);
    tops_.assign(n_words(survivors_.size()), ~Word{0});
    chain_tops_.assign(problem_.propositions.n_columns(), -1);
    for (std::size_t t = 0; t < survivors_.size(); ++t) {
        std::int32_t& top = chain_tops_[link(survivors_[t]).chain];
        below_[t] = top;
        if (top >= 0) {
            const auto below = static_cast<std::size_t>(top);
            tops_[below / word_bits] &= ~(Word{1} << (below % word_bits));
        }
        top = static_cast<std::int32_t>(t);
    }
    return true;
}

/// Sets: rows_ to the rows of other_ in descending order of their keys, equal ones merged.
void ClassExpander::order_rows() {
    const std::size_t last = other_.n_planes() - 1;
    // The last plane decides nearly always, so it is sorted by value.
    ranks_.resize(other_.size());
    for (std::uint32_t i = 0; i < other_.size(); ++i) ranks_[i] = {other_.plane(last)[i], i};
    const auto is_before = [&](const Rank& a, const Rank& b) {
        if (a.key != b.key) return a.key > b.key;
        for (std::size_t p = last; p-- > 0;) {
            if (other_.plane(p)[a.row] != other_.plane(p)[b.row])
                return other_.plane(p)[a.row] > other_.plane(p)[b.row];
        }
        return false;
    };
    std::sort(ranks_.begin(), ranks_.end(), is_before);
    permutation_.resize(other_.size());
    for (std::size_t k = 0; k < ranks_.size(); ++k) permutation_[k] = ranks_[k].row;
    rows_.gather(other_, permutation_.data(), permutation_.size());
    if (ingredients_.row_classes) rows_.merge_neighbours();
}

bool ClassExpander::branch(const Node& node, const Pruning& can_prune, const Interrupt& interrupt,
                           Expansion& out) {
    is_transposed_ = false;
    out.counters.equivalence_immediate += drop_twins();
    if (survivors_.size() < 2) return true;
    has_chains_ = ingredients_.reordering && order_survivors();
    AugmentationList augmentations;
    for (const Survivor& survivor : survivors_)
        augmentations.push_back({column_at(survivor.position), 0, survivor.bound});
    const std::size_t n_columns = augmentations.size();
    const bool is_leaf = n_columns <= most_leaf_columns_;
    const bool is_large = rows_.size() * n_columns > most_examined_at_once && !is_leaf;
    if (!is_large) key_rows();
    if (is_leaf) {
        solve_rest(node, 0, other_, augmentations, can_prune, out);
        return true;
    }
    const auto siblings = std::make_shared<Siblings>();
    out.siblings = siblings;
    siblings->augmentations = augmentations;
    siblings->excluded = node.siblings->excluded;
    for (std::size_t i = 0; i + 1 < node.next_sibling; ++i)
        siblings->excluded.insert(node.siblings->augmentations[i].index);
    if (is_large || !ingredients_.tangents) {
        siblings->is_examined = !ingredients_.tangents;
        for (std::size_t t = 0; t + 1 < n_columns; ++t) add_child(node, t, out);
    }
    if (is_large) return true;
    order_rows();
    if (ingredients_.tangents && !examine_children(node, augmentations, can_prune, interrupt, out))
        return false;
    if (!out.children.empty()) siblings->rows = rows_.compact();
    return true;
}

/// Sets: other_, the rows with keys in the order of the survivors, and one row for the forced ones.
void ClassExpander::key_rows() {
    transpose_keys();
    const std::size_t n_columns = survivors_.size(), n_planes = n_words(n_columns);
    const std::size_t n_blocks = n_words(rows_.size());
    other_.reset(rows_.size() + 1, n_planes, needs_coverage_);
    for (std::size_t i = 0; i < rows_.size(); ++i) other_.push(rows_.sums(i));
    for (std::size_t p = 0; p < n_planes; ++p) {
        const std::size_t n = std::min(word_bits, n_columns - p * word_bits);
        for (std::size_t b = 0; b < n_blocks; ++b) {
            Word block[word_bits] = {};
            for (std::size_t j = 0; j < n; ++j) {
                const std::size_t position = survivors_[p * word_bits + j].position;
                block[j] = columns_of_rows_[position * n_blocks + b];
            }
            kernels_.transpose(block);
            const std::size_t n_rows = std::min(word_bits, rows_.size() - b * word_bits);
            std::copy_n(block, n_rows, other_.plane(p) + b * word_bits);
        }
    }
    if (has_forced_) {
        const std::size_t i = other_.size();
        other_.push(forced_);
        for (std::size_t p = 0; p < n_planes; ++p) {
            const std::size_t n = std::min(word_bits, n_columns - p * word_bits);
            other_.plane(p)[i] = n == word_bits ? ~Word{0} : (Word{1} << n) - 1;
        }
    }
}

void ClassExpander::add_child(const Node& node, std::size_t t, Expansion& out) {
    const Augmentation& augmentation = out.siblings->augmentations[t];
    out.children.push_back(
        {std::min(augmentation.bound, node.bound), node.query, out.siblings, t + 1});
    out.children.back().query.push_back(augmentation.index);
}

/// Adds the children that are not proven to be in vain. Returns false if it was interrupted.
bool ClassExpander::examine_children(const Node& node, const AugmentationList& augmentations,
                                     const Pruning& can_prune, const Interrupt& interrupt,
                                     Expansion& out) {
    const std::size_t n_columns = augmentations.size();
    suffix_.assign(rows_);
    for (std::size_t t = 0; t + 1 < n_columns; ++t) {
        if (interrupt.is_requested()) return false;
        if (n_columns - t <= most_leaf_columns_) {
            solve_rest(node, t, suffix_.rows(), augmentations, can_prune, out);
            break;
        }
        if (!suffix_.next_child(t)) continue;
        std::size_t n_left = 0;
        for (const Word word : suffix_.candidates())
            n_left += static_cast<std::size_t>(std::popcount(word));
        if (n_left <= std::min(few_columns, most_leaf_columns_)) {
            solve_child(node, t, augmentations, can_prune, out);
            continue;
        }
        const bool is_leaf = n_left <= most_leaf_columns_;
        const RowsView rows = suffix_.free_rows();
        if (kernels_.proves(rows, chains(t / word_bits), suffix_.forced(),
                            problem_.l2_regularization, can_prune.threshold(),
                            is_leaf ? ProofEffort{false, false} : effort(rows),
                            proof_buffers(rows))) {
            ++out.counters.bound_immediate;
            out.relaxed_bound =
                std::max(out.relaxed_bound, can_prune.relaxation(can_prune.threshold()));
        } else if (is_leaf) {
            solve_child(node, t, augmentations, can_prune, out);
        } else {
            add_child(node, t, out);
        }
    }
    return true;
}

/// All refinements by columns from t on.
void ClassExpander::solve_rest(const Node& node, std::size_t t, const KeyedRows& rows,
                               const AugmentationList& augmentations, const Pruning& can_prune,
                               Expansion& out) {
    const std::size_t first = t / word_bits, shift = t % word_bits;
    leaf_columns_.clear();
    for (std::size_t j = t; j < augmentations.size(); ++j)
        leaf_columns_.push_back(augmentations[j].index);
    leaf_keys_.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Word key = rows.plane(first)[i] >> shift;
        if (shift > 0 && first + 1 < rows.n_planes())
            key |= rows.plane(first + 1)[i] << (word_bits - shift);
        leaf_keys_[i] = static_cast<std::uint32_t>(key);
    }
    ++out.counters.n_leaves;
    leaves_.solve(node.query, leaf_columns_, rows, leaf_keys_, can_prune, out.offers);
}

/// All refinements of child t, which has few candidates.
void ClassExpander::solve_child(const Node& node, std::size_t t,
                                const AugmentationList& augmentations, const Pruning& can_prune,
                                Expansion& out) {
    leaf_columns_.clear();
    const KeyedRows& rows = suffix_.child();
    leaf_keys_.assign(rows.size(), 0);
    const std::size_t first = t / word_bits;
    for (std::size_t p = 0; p < suffix_.candidates().size(); ++p) {
        for_each_bit(suffix_.candidates()[p], 0, [&](std::size_t bit) {
            const Word* plane = rows.plane(p);
            const std::size_t j = leaf_columns_.size();
            for (std::size_t i = 0; i < rows.size(); ++i)
                leaf_keys_[i] |= static_cast<std::uint32_t>((plane[i] >> bit) & 1) << j;
            leaf_columns_.push_back(augmentations[(first + p) * word_bits + bit].index);
        });
    }
    std::vector<std::uint32_t> query = node.query;
    query.push_back(augmentations[t].index);
    ++out.counters.n_leaves;
    leaves_.solve(query, leaf_columns_, rows, leaf_keys_, can_prune, out.offers);
}

ProofBuffers ClassExpander::proof_buffers(const RowsView& rows) {
    if (rows.size > most_paired_rows) return {};
    const auto grow = [](auto& values, std::size_t n) {
        if (values.size() < n) values.resize(n);
    };
    const std::size_t set_size = n_words(rows.size) + chunk_words;
    for (auto* numbers : {&takers_, &holders_}) grow(*numbers, rows.size * n_slopes);
    grow(row_columns_, set_size * rows.n_planes * word_bits);
    for (auto* set : {&taker_set_, &holder_set_}) grow(*set, set_size);
    grow(near_takers_, n_distances * set_size);
    grow(tight_keys_, rows.size * rows.n_planes);
    grow(frontier_, rows.n_planes);
    return {takers_.data(),     holders_.data(),     row_columns_.data(), taker_set_.data(),
            holder_set_.data(), near_takers_.data(), tight_keys_.data(),  frontier_.data()};
}

}  // namespace

std::unique_ptr<Expander> make_class_expander(const Problem& problem, const Limits& limits,
                                              const Kernels& kernels,
                                              const Ingredients& ingredients) {
    return std::make_unique<ClassExpander>(problem, limits, kernels, ingredients);
}

}  // namespace rulesearch

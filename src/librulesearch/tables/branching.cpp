#include "librulesearch/tables/branching.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "librulesearch/problem/discounted.hpp"

namespace rulesearch::tables {
namespace {

// With so many left, looking at them costs less than ruling out pairs.
constexpr std::size_t max_unpaired = 3;
constexpr double max_paired_bins = 20.0;
// Tables that take more, by conditions that may come first, are worth being divided.
constexpr double max_work_per_child = 1e6;
// Where few pairs are ruled out, dividing them is worth it only if tables are too large.
constexpr double max_work = 1e300;
constexpr std::size_t sampled_pairs = 200;
constexpr double max_share = 0.4;
// Larger parts are looked at axis by axis: by several workers, and with a look at the clock.
constexpr double max_work_at_once = 3e7;

/// Ranks of columns, of which the one with the fewest partners among those not ranked yet is next:
/// each has few partners behind it.
std::vector<std::uint32_t> rank_columns(const PairGraph& pairs, std::size_t n_columns) {
    std::vector<std::uint32_t> left, ranks(n_columns, 0), n_partners(n_columns, 0);
    pairs.columns().for_each([&](std::size_t column) {
        left.push_back(static_cast<std::uint32_t>(column));
        n_partners[column] = static_cast<std::uint32_t>(pairs.neighbours(column).size());
    });
    for (std::uint32_t rank = 0; !left.empty(); ++rank) {
        const auto next = std::min_element(left.begin(), left.end(), [&](auto a, auto b) {
            return n_partners[a] < n_partners[b];
        });
        ranks[*next] = rank;
        pairs.neighbours(*next).for_each([&](std::size_t column) { --n_partners[column]; });
        left.erase(next);
    }
    return ranks;
}

}  // namespace

std::shared_ptr<LocalProblem> Brancher::localize(const Node& node, double value,
                                                 const Interrupt& interrupt,
                                                 Counters& counters) const {
    const std::size_t n_columns = problem_.extents.n_columns();
    const LocalProblem& parent = *node.local;
    auto local = std::make_shared<LocalProblem>();
    local->n_conditions = parent.n_conditions;
    local->prefix = parent.prefix;
    local->pairs = parent.pairs;
    BitSet columns;
    if (node.part == Part::all) {
        local->rows = parent.rows;
        local->sums = parent.sums;
        if (parent.sums.data() != problem_.rows.data())
            local->own({parent.sums.begin(), parent.sums.end()});
        columns = parent.columns;
    } else {
        --local->n_conditions;
        local->prefix.push_back(static_cast<std::uint32_t>(node.index));
        const BitSet& extent = problem_.extents.extent(node.index);
        std::vector<Statistics> sums;
        for (std::size_t i = 0; i < parent.rows.size(); ++i) {
            if (!extent.contains(parent.rows[i])) continue;
            local->rows.push_back(parent.rows[i]);
            sums.push_back(parent.sums[i]);
        }
        local->own(std::move(sums));
        columns = parent.later_partners(node.index);
    }
    if (!problem_.refitted.empty()) {
        localize_jointly(*local, columns, value, interrupt, counters);
        if (local->n_conditions <= max_scanned) local->make_axes(features_, local->columns);
        return local;
    }
    const auto make_axes = [&](const BitSet& kept, double max_joined_bins) {
        local->axes = tables::make_axes(features_, local->rows, kept,
                                        static_cast<std::size_t>(max_joined_bins), false);
    };
    make_axes(columns, 1.0);
    Question question{local->sums, problem_.l2_regularization, local->n_conditions, value,
                      parent.slopes};
    columns = possible_columns(question, local->axes, n_columns, kernels_);
    if (local->n_conditions > max_unpaired) {
        make_axes(columns,
                  std::min(std::sqrt(static_cast<double>(local->rows.size())), max_paired_bins));
        local->merge_rows();
        question.rows = local->sums;
        const auto pairs = std::make_shared<PairGraph>(question, local->axes, n_columns,
                                                       parent.allowed_pairs(), kernels_, interrupt);
        counters.n_tables += pairs->n_tables();
        counters.n_table_rows += pairs->n_tables() * local->rows.size();
        columns = pairs->columns();
        local->pairs = pairs;
    }
    local->slopes = question.slopes;
    if (local->n_conditions > max_scanned) {
        make_axes(columns, 1.0);
    } else {
        local->make_axes(features_, columns);
    }
    local->merge_rows();
    local->columns = std::move(columns);
    return local;
}

void Brancher::localize_jointly(LocalProblem& local, BitSet columns, double value,
                                const Interrupt& interrupt, Counters& counters) const {
    const std::size_t n_columns = problem_.extents.n_columns();
    DiscountedRows discounted(problem_);
    // At a discount the joint objective is a stagewise one, or less: what prices rule out among the
    // rows of some conditions is in no query that has them.
    const auto is_possible = [&](const BitSet& rows) {
        const std::span<const Statistics> left = discounted.of(rows);
        counters.n_table_rows += left.size();
        return may_hold({left, problem_.l2_regularization, local.n_conditions, value}, kernels_);
    };
    const BitSet prefix = problem_.extents.extent_of(local.prefix);
    std::vector<std::uint32_t> kept;
    std::vector<BitSet> extents;
    columns.for_each([&](std::size_t column) {
        BitSet rows = problem_.extents.extent(column);
        rows &= prefix;
        if (interrupt.is_requested() || !is_possible(rows)) return;
        kept.push_back(static_cast<std::uint32_t>(column));
        extents.push_back(std::move(rows));
    });
    local.columns = BitSet(n_columns);
    for (const std::uint32_t column : kept) local.columns.insert(column);
    if (local.n_conditions <= max_unpaired) return;
    const AllowedPairs inherited = local.allowed_pairs();
    const auto is_possible_pair = [&](std::size_t a, std::size_t b) {
        BitSet rows = extents[a];
        rows &= extents[b];
        return is_possible(rows);
    };
    // Where a sample says that most of them stay, pairs are not worth it.
    const std::size_t n_pairs = kept.size() * (kept.size() + 1) / 2;
    std::size_t n_tried = 0, n_found = 0;
    for (std::size_t a = 0, pair = 0; a < kept.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b, ++pair) {
            if (pair * sampled_pairs / n_pairs == (pair + 1) * sampled_pairs / n_pairs) continue;
            if (!inherited(kept[a], kept[b])) continue;
            ++n_tried;
            if (is_possible_pair(a, b)) ++n_found;
        }
    }
    const bool is_tested = static_cast<double>(n_found) < max_share * static_cast<double>(n_tried);
    std::vector<std::array<std::uint32_t, 2>> pairs;
    for (std::size_t a = 0; a < kept.size() && !interrupt.is_requested(); ++a) {
        pairs.push_back({kept[a], kept[a]});
        for (std::size_t b = 0; b < a; ++b) {
            if (!inherited(kept[a], kept[b]) || (is_tested && !is_possible_pair(a, b))) continue;
            pairs.push_back({kept[a], kept[b]});
            pairs.push_back({kept[b], kept[a]});
        }
    }
    local.pairs = std::make_shared<PairGraph>(n_columns, pairs);
    local.has_few_pairs = is_tested;
}

std::shared_ptr<LocalProblem> Brancher::divide(const Node& node, const Goal& goal,
                                               const Interrupt& interrupt,
                                               Expansion& expansion) const {
    auto local = localize(node, goal.threshold(), interrupt, expansion.counters);
    if (goal.approximation_factor < 1.0)
        expansion.note_pruned(goal.unproven(goal.value / goal.approximation_factor));
    const bool is_scanned = local->n_conditions <= max_scanned;
    if (interrupt.is_requested() || (is_scanned && local->axes.empty())) return nullptr;
    const double work = is_scanned ? scan_work(local->rows.size(), local->axes, local->n_conditions)
                                   : std::numeric_limits<double>::infinity();
    const auto n_children = static_cast<double>(local->pairs ? local->pairs->columns().size() : 0);
    const double least_work = local->has_few_pairs ? max_work_per_child * n_children : max_work;
    if (local->n_conditions > max_unpaired && work > least_work) {
        add_columns(node, local, goal, expansion);
        return nullptr;
    }
    if (work <= max_work_at_once) return local;
    add_axes(node, local, goal, expansion);
    return nullptr;
}

void Brancher::add_columns(const Node& node, const std::shared_ptr<LocalProblem>& local,
                           const Goal& goal, Expansion& expansion) const {
    local->axes.clear();
    local->ranks = rank_columns(*local->pairs, problem_.extents.n_columns());
    expansion.local = local;
    local->pairs->columns().for_each([&](std::size_t column) {
        if (local->later_partners(column).empty()) return;
        const double bound = std::min(node.bound, local->pairs->bound(column));
        const Node child{bound, 0, local, Part::column, column};
        if (goal.can_prune(child)) {
            expansion.note_pruned(goal.unproven(bound));
            ++expansion.counters.bound_immediate;
        } else {
            expansion.children.push_back(child);
        }
    });
}

void Brancher::add_axes(const Node& node, const std::shared_ptr<LocalProblem>& local,
                        const Goal& goal, Expansion& expansion) const {
    expansion.local = local;
    for (std::size_t axis = 0; axis < local->axes.size(); ++axis) {
        double bound = 0.0;
        for (std::size_t mask = 0; mask < local->axes[axis].n_singles; ++mask)
            bound = std::max(bound, local->pairs->bound(local->axes[axis].columns[mask][0]));
        const Node child{std::min(node.bound, bound), 0, local, Part::axis, axis};
        if (goal.can_prune(child)) {
            expansion.note_pruned(goal.unproven(bound));
        } else {
            expansion.children.push_back(child);
        }
    }
}

}  // namespace rulesearch::tables

#include "librulesearch/ranges/local_search.hpp"

#include <algorithm>
#include <utility>

namespace rulesearch::ranges {
namespace {

// Climbs of either kind. The search goes on improving what they find, so that more of them cost
// more than they save.
constexpr int n_climbs = 60;
constexpr int n_climbs_nearby = 100;

// Sides that are opened to leave a box: few, to come back near it.
constexpr std::size_t most_opened = 4;

}  // namespace

Offer LocalSearch::climb(std::vector<Level> cuts) {
    const std::size_t n_sides = sides_.n_sides();
    n_beyond_.assign(rows_.size(), 0);
    Statistics sums;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        for (std::size_t side = 0; side < n_sides; ++side)
            n_beyond_[row] += rows_.levels(row)[side] > cuts[side];
        if (n_beyond_[row] == 0) sums += rows_.statistics(row);
    }
    double value = sums.coverage < limits_.min_coverage ? -1.0 : problem_.value(sums);
    // Each side in turn, until none has improved since its last turn.
    std::size_t n_cut = n_cuts(cuts);
    for (std::size_t turn = 0, n_idle = 0; n_idle < n_sides; turn = (turn + 1) % n_sides) {
        const std::size_t side = turns_[turn];
        ++n_idle;
        const bool is_cut = cuts[side] < sides_.top(side);
        if (!is_cut && n_cut >= limits_.max_conditions) continue;
        const Cut best = best_cut(side, cuts);
        if (best.value < value || best.level == cuts[side]) continue;
        n_cut = n_cut - is_cut + (best.level < sides_.top(side));
        move(side, best.level, cuts);
        if (best.value == value) continue;
        value = best.value;
        n_idle = 1;
    }
    return {value, std::move(cuts)};
}

/// Of equally good cuts the loosest.
LocalSearch::Cut LocalSearch::best_cut(std::size_t side, const std::vector<Level>& cuts) const {
    Cut best{sides_.top(side), -1.0};
    Statistics sums;
    const std::uint32_t* order = rows_.order(side);
    const Level* levels = rows_.ascending_levels(side);
    bool is_new = true, is_best = false;  // what the level covers
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        const Level level = levels[k];
        if (n_beyond_[order[k]] == (level > cuts[side])) {
            sums += rows_.statistics(order[k]);
            is_new = true;
        }
        if (k + 1 < rows_.size() && levels[k + 1] == level) continue;
        if (is_new) {
            const double value = problem_.value(sums);
            is_best = value >= best.value && sums.coverage >= limits_.min_coverage;
            if (is_best) best.value = value;
            is_new = false;
        }
        if (is_best) best.level = level;
    }
    return best;
}

void LocalSearch::move(std::size_t side, Level level, std::vector<Level>& cuts) {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        n_beyond_[row] += rows_.levels(row)[side] > level;
        n_beyond_[row] -= rows_.levels(row)[side] > cuts[side];
    }
    cuts[side] = level;
}

std::size_t LocalSearch::n_cuts(const std::vector<Level>& cuts) const {
    std::size_t count = 0;
    for (std::size_t side = 0; side < cuts.size(); ++side) count += cuts[side] < sides_.top(side);
    return count;
}

std::vector<Level> LocalSearch::around_random_row() {
    std::vector<Level> cuts = sides_.everything();
    const Level* levels = rows_.levels(below(rows_.size()));
    const std::size_t most = std::min(limits_.max_conditions, sides_.n_sides());
    for (std::size_t k = 0; k < (most + 1) / 2; ++k) {
        const std::size_t side = below(sides_.n_sides());
        const Level room = sides_.top(side) - levels[side];
        cuts[side] = levels[side] + static_cast<Level>(below(room + std::size_t{1}));
    }
    return cuts;
}

std::vector<Level> LocalSearch::near(std::vector<Level> cuts) {
    for (std::size_t n = 1 + below(most_opened); n > 0; --n) {
        const std::size_t side = below(sides_.n_sides());
        cuts[side] = sides_.top(side);
    }
    return cuts;
}

void LocalSearch::shuffle_turns() {
    for (std::size_t k = turns_.size(); k > 1; --k) std::swap(turns_[k - 1], turns_[below(k)]);
}

Offer LocalSearch::climb_from_everywhere(const Interrupt& interrupt) {
    Offer best = climb(sides_.everything());
    const auto take = [&](Offer offer) {
        if (offer.value > best.value) best = std::move(offer);
    };
    for (int k = 0; k < n_climbs && !interrupt.is_requested(); ++k) {
        shuffle_turns();
        take(climb(around_random_row()));
    }
    for (int k = 0; k < n_climbs_nearby && !interrupt.is_requested(); ++k) {
        shuffle_turns();
        take(climb(near(best.cuts)));
    }
    return best;
}

}  // namespace rulesearch::ranges

#include "librulesearch/ranges/local_search.hpp"

#include <algorithm>
#include <utility>

namespace rulesearch::ranges {
namespace {

// Climbs of either kind. The search goes on improving what they find, so that more of them cost
// more than they save.
constexpr int n_climbs = 60;
constexpr int n_climbs_nearby = 100;

// Chains that are opened to leave a box: few, to come back near it.
constexpr std::size_t max_opened = 4;

}  // namespace

Offer LocalSearch::climb(std::vector<Level> cuts) {
    const std::size_t n_chains = chains_.n_chains();
    n_beyond_.assign(rows_.size(), 0);
    Statistics sums;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        for (std::size_t chain = 0; chain < n_chains; ++chain)
            n_beyond_[row] += rows_.levels(row)[chain] > cuts[chain];
        if (n_beyond_[row] == 0) sums += rows_.statistics(row);
    }
    double value = sums.coverage < limits_.min_coverage ? -1.0 : problem_.value(sums);
    // Each chain in turn, until none has improved since its last turn.
    std::size_t n_cut = chains_.n_cuts(cuts);
    for (std::size_t turn = 0, n_idle = 0; n_idle < n_chains; turn = (turn + 1) % n_chains) {
        const std::size_t chain = turns_[turn];
        ++n_idle;
        const bool is_cut = cuts[chain] < chains_.top(chain);
        if (!is_cut && n_cut >= limits_.max_conditions) continue;
        const Cut best = best_cut(chain, cuts);
        if (best.value < value || best.level == cuts[chain]) continue;
        n_cut = n_cut - is_cut + (best.level < chains_.top(chain));
        move(chain, best.level, cuts);
        if (best.value == value) continue;
        value = best.value;
        n_idle = 1;
    }
    return {value, std::move(cuts)};
}

/// Of equally gaining cuts the loosest.
LocalSearch::Cut LocalSearch::best_cut(std::size_t chain, const std::vector<Level>& cuts) const {
    Cut best{chains_.top(chain), -1.0};
    Statistics sums;
    const std::uint32_t* order = rows_.order(chain);
    const Level* levels = rows_.ascending_levels(chain);
    bool is_new = true, is_best = false;  // what the level covers
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        const Level level = levels[k];
        if (n_beyond_[order[k]] == (level > cuts[chain])) {
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

void LocalSearch::move(std::size_t chain, Level level, std::vector<Level>& cuts) {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        n_beyond_[row] += rows_.levels(row)[chain] > level;
        n_beyond_[row] -= rows_.levels(row)[chain] > cuts[chain];
    }
    cuts[chain] = level;
}

std::vector<Level> LocalSearch::around_random_row() {
    std::vector<Level> cuts = chains_.everything();
    const Level* levels = rows_.levels(below(rows_.size()));
    const std::size_t max_cuts = std::min(limits_.max_conditions, chains_.n_chains());
    for (std::size_t k = 0; k < (max_cuts + 1) / 2; ++k) {
        const std::size_t chain = below(chains_.n_chains());
        const Level room = chains_.top(chain) - levels[chain];
        cuts[chain] = levels[chain] + static_cast<Level>(below(room + std::size_t{1}));
    }
    return cuts;
}

std::vector<Level> LocalSearch::near(std::vector<Level> cuts) {
    for (std::size_t n = 1 + below(max_opened); n > 0; --n) {
        const std::size_t chain = below(chains_.n_chains());
        cuts[chain] = chains_.top(chain);
    }
    return cuts;
}

void LocalSearch::shuffle_turns() {
    for (std::size_t k = turns_.size(); k > 1; --k) std::swap(turns_[k - 1], turns_[below(k)]);
}

Offer LocalSearch::climb_from_everywhere(const Interrupt& interrupt) {
    Offer best = climb(chains_.everything());
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

// Good boxes without proof, one chain at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "librulesearch/engine/control.hpp"
#include "librulesearch/ranges/node.hpp"
#include "librulesearch/ranges/signed_rows.hpp"

namespace rulesearch::ranges {

/// Coordinate ascent: the best cut of one chain, given all others, from a single pass over the
/// rows; chain after chain, as long as one of them improves.
class LocalSearch {
  public:
    LocalSearch(const Problem& problem, const Chains& chains, const SignedRows& rows,
                const Limits& limits)
        : problem_(problem),
          chains_(chains),
          rows_(rows),
          limits_(limits),
          turns_(chains.n_chains()) {
        std::iota(turns_.begin(), turns_.end(), std::size_t{0});
    }

    /// Climbs from a box within the limit on conditions; the value is -1 if none on the way, the
    /// start included, covers enough. O(chains * rows) per pass.
    Offer climb(std::vector<Level> cuts);

    /// The best box of climbs from everywhere, from around random rows and from near the best box.
    /// The same for the same arguments, if it is not interrupted.
    Offer climb_from_everywhere(const Interrupt& interrupt);

  private:
    struct Cut {
        Level level;
        double value;
    };

    Cut best_cut(std::size_t chain, const std::vector<Level>& cuts) const;
    void move(std::size_t chain, Level level, std::vector<Level>& cuts);
    std::vector<Level> around_random_row();
    std::vector<Level> near(std::vector<Level> cuts);
    void shuffle_turns();
    std::size_t below(std::size_t end) { return random_() % end; }

    const Problem& problem_;
    const Chains& chains_;
    const SignedRows& rows_;
    const Limits& limits_;
    std::vector<std::uint32_t> n_beyond_;  // by row: chains on which it is beyond the cut
    std::vector<std::size_t> turns_;       // order in which chains move
    std::mt19937_64 random_{0};
};

}  // namespace rulesearch::ranges

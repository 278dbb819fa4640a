// What good rows pay for the bad ones that come with them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "librulesearch/ranges/node_rows.hpp"

namespace rulesearch::ranges {

/// What good rows are worth with all they have paid for, and what is left of the bad rows.
struct Balance {
    std::vector<double> gradients, hessians;            // by good row
    std::vector<double> left_gradients, left_hessians;  // by bad row
    std::vector<Word> open;                             // bad rows of which something is left

    double price(std::size_t good, double half_slope) const {
        return gradients[good] - half_slope * hessians[good];
    }

    /// Lets a good row pay, at a slope, for the bad rows in a word of bits that have something
    /// left, until nothing is left of either. Calls `record(bad, gradient, hessian)` for each
    /// share.
    template <typename Record>
    void pay(std::size_t good, std::size_t word, Word bits, double half_slope, Record&& record) {
        double slack = price(good, half_slope);
        for (bits &= open[word]; bits != 0 && slack > 0.0; bits &= bits - 1) {
            const std::size_t bad =
                word * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
            const double cost = half_slope * left_hessians[bad] - left_gradients[bad];
            const bool is_all = cost < slack;
            const double share = is_all ? 1.0 : slack / cost;
            const double gradient = share * left_gradients[bad];
            const double hessian = share * left_hessians[bad];
            gradients[good] += gradient;
            hessians[good] += hessian;
            slack = is_all ? slack - cost : 0.0;
            if (is_all) {
                left_gradients[bad] = left_hessians[bad] = 0.0;
                open[word] &= ~(bits & -bits);
            } else {
                left_gradients[bad] -= gradient;
                left_hessians[bad] -= hessian;
            }
            record(bad, gradient, hessian);
        }
    }
    void pay(std::size_t good, std::size_t word, Word bits, double half_slope) {
        pay(good, word, bits, half_slope, [](std::size_t, double, double) {});
    }
};

/// The payments of a node, each for a bad row that the good one implies.
class Payments {
  public:
    struct Share {
        std::uint32_t good, bad;
        double gradient, hessian;
        std::uint32_t next_of_good, next_of_bad;
    };
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    explicit Payments(const NodeRows& rows) : rows_(rows) {}

    /// Makes all payments, first at the main slope, then what can still be paid at the least one.
    void make(double main_slope, double low_slope);

    const Balance& balance() const { return balance_; }
    /// Good rows in the order in which they pay.
    const std::vector<std::uint32_t>& payers() const { return payers_; }

    template <typename Visitor>
    void for_each_share_of_good(std::size_t good, Visitor&& visit) const {
        for (std::uint32_t s = first_of_good_[good]; s != none; s = shares_[s].next_of_good)
            visit(shares_[s]);
    }
    template <typename Visitor>
    void for_each_share_of_bad(std::size_t bad, Visitor&& visit) const {
        for (std::uint32_t s = first_of_bad_[bad]; s != none; s = shares_[s].next_of_bad)
            visit(shares_[s]);
    }

  private:
    void sort_payers();
    void pay(double slope);

    const NodeRows& rows_;
    Balance balance_;
    std::vector<std::uint32_t> payers_, starts_;
    std::vector<Share> shares_;
    std::vector<std::uint32_t> first_of_good_, first_of_bad_;
};

}  // namespace rulesearch::ranges

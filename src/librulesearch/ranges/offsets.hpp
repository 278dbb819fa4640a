// Costing rows set off against the gaining ones that they come with.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "librulesearch/ranges/node_rows.hpp"

namespace rulesearch::ranges {

/// Gaining rows together with what was set off against them, and what is left of the costing rows.
struct Balance {
    std::vector<double> gradients, hessians;            // by gaining row
    std::vector<double> left_gradients, left_hessians;  // by costing row
    std::vector<Word> open;                             // costing rows of which something is left

    double price(std::size_t gaining, double slope) const {
        return ranges::price(gradients[gaining], hessians[gaining], slope);
    }
    /// What is left of a costing row lowers the value by this.
    double cost(std::size_t costing, double slope) const {
        return -ranges::price(left_gradients[costing], left_hessians[costing], slope);
    }

    /// Sets the costing rows in a word of bits off against a gaining row, at a slope, until nothing
    /// is left of either. Calls `record(costing, gradient, hessian)` for each share.
    template <typename Record>
    void set_off(std::size_t gaining, std::size_t word, Word bits, double slope, Record&& record) {
        double slack = price(gaining, slope);
        for (bits &= open[word]; bits != 0 && slack > 0.0; bits &= bits - 1) {
            const std::size_t costing =
                word * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
            const double cost = this->cost(costing, slope);
            const bool is_all = cost < slack;
            const double share = is_all ? 1.0 : slack / cost;
            const double gradient = share * left_gradients[costing];
            const double hessian = share * left_hessians[costing];
            gradients[gaining] += gradient;
            hessians[gaining] += hessian;
            slack = is_all ? slack - cost : 0.0;
            if (is_all) {
                left_gradients[costing] = left_hessians[costing] = 0.0;
                open[word] &= ~(bits & -bits);
            } else {
                left_gradients[costing] -= gradient;
                left_hessians[costing] -= hessian;
            }
            record(costing, gradient, hessian);
        }
    }
    void set_off(std::size_t gaining, std::size_t word, Word bits, double slope) {
        set_off(gaining, word, bits, slope, [](std::size_t, double, double) {});
    }
};

/// What was set off at a node: shares of costing rows against gaining rows that imply them.
class Offsets {
  public:
    struct Share {
        std::uint32_t gaining, costing;
        double gradient, hessian;
        std::uint32_t next_of_gaining, next_of_costing;
    };
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    explicit Offsets(const NodeRows& rows) : rows_(rows) {}

    /// Sets off all it can, first at the main slope, then what is left at the lowest one.
    void make(double main_slope, double low_slope);

    const Balance& balance() const { return balance_; }
    /// Gaining rows in the order in which their turns come.
    const std::vector<std::uint32_t>& turns() const { return turns_; }

    template <typename Visitor>
    void for_each_share_of_gaining(std::size_t gaining, Visitor&& visit) const {
        for (std::uint32_t s = first_of_gaining_[gaining]; s != none;
             s = shares_[s].next_of_gaining)
            visit(shares_[s]);
    }
    template <typename Visitor>
    void for_each_share_of_costing(std::size_t costing, Visitor&& visit) const {
        for (std::uint32_t s = first_of_costing_[costing]; s != none;
             s = shares_[s].next_of_costing)
            visit(shares_[s]);
    }

  private:
    void sort_turns();
    void set_off(double slope);

    const NodeRows& rows_;
    Balance balance_;
    std::vector<std::uint32_t> turns_, starts_;
    std::vector<Share> shares_;
    std::vector<std::uint32_t> first_of_gaining_, first_of_costing_;
};

}  // namespace rulesearch::ranges

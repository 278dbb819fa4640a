// Rows in whole numbers, as tables add them up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "librulesearch/kernels/table_scan.hpp"
#include "librulesearch/problem/problem.hpp"
#include "librulesearch/tables/local_problem.hpp"

namespace rulesearch::tables {

/// What each row adds to a cell, and which sums are wanted.
///
/// Of a set S with n rows in c cells, G is off from the sum of gradients in units of u by at most
/// the rounding errors of rows and of cells, and each component of the vector by as many of its own
/// units: rows are rounded to a part 2^-s of the unit, cells to the unit. Both together are off by
/// n/2 lengths of a vector of units, those of rows, and c/2 of those of cells. If the set is worth
/// at least `value`, G and the vector have at least the length Y = sqrt(value * (lambda + H(S))) /
/// u, so that the squares are at least Y^2 less twice the error times Y: each row and each cell is
/// charged with the largest possible Y, and J rounded down.
///
/// Few rows are rounded to the unit, which leaves nothing to round in a cell.
///
/// Without the vector, a set is wanted only if G^2 is enough for the share of H that terms leave of
/// any set like it. Charges are those of the least share that counts.
class Packing {
  public:
    /// Which sums are wanted.
    struct Wanted {
        float scale = 0.0F, threshold = 0.0F, least_square = 0.0F;
        std::vector<float> square_scales;
        std::int32_t min_coverage = 0;

        /// Sets: what a scan looks for.
        void set(TableScan& scan) const;
    };

    /// For sets that are worth at least a value. O(rows * components).
    Packing(const Problem& problem, const Limits& limits, bool has_components,
            std::shared_ptr<const LocalProblem> local, double value);

    /// Smaller ones count as 0.
    static constexpr float least_share = 1.0F / 16.0F;
    /// Rows are packed for this value where sets of another one are looked for: it is not larger,
    /// and the same for values nearby.
    static double value_near(double value);

    const std::shared_ptr<const LocalProblem>& local() const { return local_; }
    double value() const { return value_; }
    /// Of sets that are worth at least a value that is not smaller than the one of the rows.
    Wanted wanted(double value) const;

    const TableSums& sums() const { return sums_; }
    const std::int32_t* entries() const { return entries_.data(); }
    /// Whether sets of that value can be told without the vector.
    bool is_possible(const Wanted& wanted) const {
        return !has_shares_ || wanted.least_square > 0.0F;
    }
    /// Whether rows are finer than cells: their sums are to be rounded.
    bool is_fine() const { return is_fine_; }
    /// Makes cells of sums of rows.
    void round(const std::vector<std::int64_t>& sums, std::vector<std::int32_t>& cells) const;

  private:
    /// Of one of the sums: cells are in units, rows in parts 2^-shift of them.
    struct Scale {
        double unit = 0.0;
        int shift = 0;
    };
    void pack();
    Scale scale_for(double sum, double largest) const;
    void pack_components();
    void pack_needs(double wanted_hessians, double of_row, double of_cell);
    void pack_coverages();

    const Problem& problem_;
    const Limits& limits_;
    bool has_shares_;
    TableSums sums_;
    std::shared_ptr<const LocalProblem> local_;
    double value_;  // that rows are packed for
    bool is_fine_ = false;
    double n_rows_ = 0.0, n_cells_ = 0.0;  // of cells, at most as many as can have rows
    double wanted_ = 0.0;                  // the value, of gradients in their units
    double square_of_rows_ = 0.0, square_of_cells_ = 0.0;  // lengths of vectors of units
    double error_ = 0.0;                                   // of G
    double need_ = 0.0;                                    // a unit of J
    std::int32_t charge_of_cell_ = 0;
    std::vector<int> shifts_;
    std::vector<std::int32_t> entries_;
    std::vector<double> squares_;  // by component: of its unit, in units of G
    std::int32_t min_coverage_ = 0;
};

}  // namespace rulesearch::tables

// The covered rows of a query as the remaining candidates see them, and the bounding theorem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "librulesearch/bits.hpp"
#include "librulesearch/problem.hpp"

namespace rulesearch {

/// Which row subsets a bound admits.
enum class Bound {
    paper,       // any subset of the covered rows
    row_classes  // only subsets that the candidates can express
};

/// Largest value of sums that start from a base and take in classes one by one.
///
/// Bounding theorem: with the classes of one sign in descending |g/h| order, some best subset is
/// one of the sums met on the way. Forced rows do not break it: the exchange argument holds for any
/// starting sums.
class RunningBound {
  public:
    RunningBound() = default;
    RunningBound(const Statistics& base, double l2_regularization)
        : sum_gradients_(base.gradient),
          sum_hessians_(base.hessian),
          l2_regularization_(l2_regularization) {
        if (sum_gradients_ != 0.0)
            bound_ = sum_gradients_ * sum_gradients_ / (l2_regularization_ + sum_hessians_);
    }

    void add(double gradient, double hessian) {
        sum_gradients_ += gradient;
        sum_hessians_ += hessian;
        // The regularisation is added at the end, so that the sums stay exact.
        const double square = sum_gradients_ * sum_gradients_;
        const double denominator = l2_regularization_ + sum_hessians_;
        if (square > bound_ * denominator) bound_ = square / denominator;
    }

    double bound() const { return bound_; }

  private:
    double sum_gradients_ = 0.0;
    double sum_hessians_ = 0.0;
    double l2_regularization_ = 0.0;
    double bound_ = 0.0;
};

/// A set of covered rows that every refinement takes or leaves together.
struct RowClass {
    Statistics sums;
    double ratio;  // |g/h|
    std::uint32_t id;
};

/// The covered rows of a query, grouped into classes that the candidates do not tell apart.
///
/// Two covered rows that lie in the same candidates are taken or left together by every refinement
/// that uses candidates only. So a class counts as one row, and the bounding theorem applied to
/// classes is admissible and never looser than applied to rows. Rows in none of the candidates are
/// in no proper refinement and are dropped; rows in all of them are in every refinement and make up
/// the `base` from which each sum starts.
class RowClasses {
  public:
    explicit RowClasses(const Propositions& propositions) : propositions_(propositions) {}

    /// Sets: the classes of `rows` with respect to `candidates`. With `Bound::paper` every row is a
    /// class of its own, and there is no base. O(rows * stride) and one sort.
    void assign(const Problem& problem, std::span<const std::uint32_t> rows,
                const BitSet& candidates, Bound bound);

    /// Largest value that the base reaches together with a union of classes. O(classes).
    double bound(double l2_regularization) const;

    const Statistics& base() const { return base_; }
    bool has_base() const { return base_id_ != no_class; }
    /// Classes with sum g > 0 and with sum g < 0, each in descending |g/h| order; the rest.
    const std::vector<RowClass>& positive() const { return positive_; }
    const std::vector<RowClass>& negative() const { return negative_; }
    const std::vector<RowClass>& neutral() const { return neutral_; }

    /// Candidates that contain the class.
    const Word* signature(const RowClass& row_class) const {
        return signatures_.data() + offset(row_class.id);
    }

    /// Smallest position that the rows in `position` imply and that is not `implied` by all rows
    /// already; `position` itself if there is no smaller one. O(classes * position), as a rule far
    /// less, as a handful of rows usually disagrees on everything.
    std::size_t critical_index(std::size_t position, const BitSet& implied) const;

  private:
    static constexpr std::size_t no_class = static_cast<std::size_t>(-1);

    std::size_t offset(std::size_t id) const { return id * propositions_.stride(); }
    void add_class(const Statistics& sums, const Word* closure, const BitSet& candidates);
    void merge(const Problem& problem, std::span<const std::uint32_t> rows,
               const BitSet& candidates);
    void sort();

    const Propositions& propositions_;
    std::vector<Statistics> sums_;      // by class id, as are
    std::vector<Word> signatures_;      // the candidates that contain the class and
    std::vector<Word> closures_;        // all positions that contain it
    std::vector<std::uint32_t> slots_;  // hash table over signatures: class id + 1, or 0
    Statistics base_;
    std::size_t base_id_ = no_class;     // in all candidates
    std::size_t dropped_id_ = no_class;  // in none
    std::vector<RowClass> positive_, negative_, neutral_;
};

/// Largest value that any set of rows reaches. O(rows log rows).
double bound_of_all_rows(const Problem& problem);

}  // namespace rulesearch

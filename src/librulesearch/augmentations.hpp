// What becomes of a query when one more column is added, for all candidates in one go.
#pragma once

#include <cstddef>
#include <vector>

#include "librulesearch/bits.hpp"
#include "librulesearch/control.hpp"
#include "librulesearch/row_classes.hpp"

namespace rulesearch {

class AugmentationTable {
  public:
    explicit AugmentationTable(std::size_t n_columns) : entries_(n_columns), running_(n_columns) {}

    /// Sets: sums and bounds of all candidates. Returns false if it was interrupted.
    /// O(number of pairs of a class and a candidate that contains it).
    bool evaluate(const RowClasses& classes, const BitSet& candidates, double l2_regularization,
                  const Interrupt& interrupt);

    /// Sums over the rows of the augmented query.
    const Statistics& sums(std::size_t position) const { return entries_[position].sums; }
    /// No refinement of the augmented query by candidates is worth more; the query itself neither.
    double bound(std::size_t position) const { return entries_[position].bound; }

  private:
    struct Entry {
        Statistics sums;
        double bound;
    };

    bool raise_bounds(const RowClasses& classes, const std::vector<RowClass>& part,
                      const BitSet& candidates, double l2_regularization,
                      const Interrupt& interrupt);

    std::vector<Entry> entries_;
    std::vector<RunningBound> running_;
};

}  // namespace rulesearch

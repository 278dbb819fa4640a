// Queries divided by their first condition, where tables of all of them would be too many.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "librulesearch/engine/control.hpp"
#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/problem/problem.hpp"
#include "librulesearch/tables/features.hpp"
#include "librulesearch/tables/node.hpp"

namespace rulesearch::tables {

/// Makes local problems small, and divides those that are still too large for tables.
class Brancher {
  public:
    Brancher(const Problem& problem, const std::vector<Feature>& features, const Kernels& kernels)
        : problem_(problem), features_(features), kernels_(kernels) {}

    /// Adds children to the expansion that hold all queries of a node that may be good enough, but
    /// for those of up to three conditions, or of one under the joint objective. Or gives them
    /// back, to be looked at at once.
    std::shared_ptr<LocalProblem> divide(const Node& node, const Goal& goal,
                                         const Interrupt& interrupt, Expansion& expansion) const;

  private:
    /// Rows and columns of a node, without those that cannot be part of a good query.
    std::shared_ptr<LocalProblem> localize(const Node& node, double value,
                                           const Interrupt& interrupt, Counters& counters) const;
    /// The same under the joint objective. Sets: columns, pairs.
    void localize_jointly(LocalProblem& local, BitSet columns, double value,
                          const Interrupt& interrupt, Counters& counters) const;
    void add_columns(const Node& node, const std::shared_ptr<LocalProblem>& local, const Goal& goal,
                     Expansion& expansion) const;
    void add_axes(const Node& node, const std::shared_ptr<LocalProblem>& local, const Goal& goal,
                  Expansion& expansion) const;

    const Problem& problem_;
    const std::vector<Feature>& features_;
    const Kernels& kernels_;
};

}  // namespace rulesearch::tables

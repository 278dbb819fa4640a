#include <algorithm>

#include "librulesearch/expander.hpp"

namespace rulesearch {
namespace {

class PaperExpander final : public Expander {
  public:
    PaperExpander(const Problem& problem, const Limits& limits)
        : Expander(problem, limits, Bound::paper) {}

  private:
    bool is_redundant(const Node&) const override { return false; }

    bool is_redundant(const Node& node, const Augmentation& augmentation) const override {
        return has_core_queries_ && !node.query.empty() &&
               augmentation.critical_index < node.query.back();
    }

    bool branch(const Node& node, const Pruning& can_prune, const Interrupt&,
                Expansion& out) override {
        auto siblings = std::make_shared<Siblings>();
        siblings->augmentations = survivors(node, can_prune, out);
        AugmentationList& augmentations = siblings->augmentations;
        if (has_core_queries_) {
            for (Augmentation& augmentation : augmentations) {
                augmentation.critical_index = critical_index(augmentation);
            }
        } else {
            out.counters.equivalence_immediate += drop_twins(augmentations);
        }
        for (std::size_t i = 0; i < augmentations.size(); ++i) {
            if (augmentations[i].critical_index != augmentations[i].index) {
                ++out.counters.equivalence_immediate;
            } else if (i + 1 < augmentations.size()) {
                const double bound = std::min(augmentations[i].bound, node.bound);
                out.children.push_back({bound, node.query, siblings, i + 1});
                out.children.back().query.push_back(augmentations[i].index);
            }
        }
        return true;
    }

    std::uint32_t critical_index(const Augmentation& augmentation) const {
        const bool is_known_not_core = augmentation.critical_index < augmentation.index &&
                                       !implied_.contains(augmentation.critical_index);
        return is_known_not_core ? augmentation.critical_index
                                 : static_cast<std::uint32_t>(
                                       classes_.critical_index(augmentation.index, implied_));
    }
};

}  // namespace

std::unique_ptr<Expander> make_paper_expander(const Problem& problem, const Limits& limits) {
    return std::make_unique<PaperExpander>(problem, limits);
}

}  // namespace rulesearch

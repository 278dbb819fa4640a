// Packed rows that the workers of a search share.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/tables/packing.hpp"
#include "librulesearch/tables/row_tables.hpp"

namespace rulesearch::tables {

/// Rows, and tables that they are added to.
struct PackedTables {
    Packing packing;
    RowTables tables;

    template <typename... Arguments>
    explicit PackedTables(const Kernels& kernels, Arguments&&... arguments)
        : packing(std::forward<Arguments>(arguments)...), tables(packing, kernels) {}
    PackedTables(const PackedTables&) = delete;
    PackedTables& operator=(const PackedTables&) = delete;

    bool is_for(const LocalProblem* local, double value) const {
        return packing.local().get() == local && packing.value() == Packing::value_near(value);
    }
};

/// Packs rows once for all workers that need them at a time. Which worker does it when makes no
/// difference: what rows are packed for depends on what is asked for alone.
class Packings {
  public:
    Packings(const Problem& problem, const Limits& limits, bool has_components,
             const Kernels& kernels)
        : problem_(problem), limits_(limits), has_components_(has_components), kernels_(kernels) {}

    /// The rows of a local problem, to look for sets that are worth at least a value.
    std::shared_ptr<PackedTables> rows_for(const std::shared_ptr<const LocalProblem>& local,
                                           double value) {
        const std::shared_ptr<Slot> slot = slot_for(local.get(), Packing::value_near(value));
        const std::lock_guard lock(slot->mutex);
        if (!slot->packed)
            slot->packed.emplace(kernels_, problem_, limits_, has_components_, local, slot->value);
        return {slot, &*slot->packed};
    }

  private:
    struct Slot {
        const LocalProblem* local;
        double value;
        std::mutex mutex;
        std::optional<PackedTables> packed;

        Slot(const LocalProblem* of, double least) : local(of), value(least) {}
    };

    std::shared_ptr<Slot> slot_for(const LocalProblem* local, double value) {
        const std::lock_guard lock(mutex_);
        std::erase_if(slots_, [](const auto& slot) { return slot.expired(); });
        for (const std::weak_ptr<Slot>& each : slots_)
            if (auto slot = each.lock(); slot && slot->local == local && slot->value == value)
                return slot;
        auto slot = std::make_shared<Slot>(local, value);
        slots_.push_back(slot);
        return slot;
    }

    const Problem& problem_;
    const Limits& limits_;
    bool has_components_;
    const Kernels& kernels_;
    std::mutex mutex_;
    std::vector<std::weak_ptr<Slot>> slots_;  // that some worker has
};

}  // namespace rulesearch::tables

#include "librulesearch/tables/expander.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace rulesearch::tables {
namespace {

// Of hits: all that terms imitate is added up.
constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Expansion Expander::expand(const Node& node, const Goal& goal, const Interrupt& interrupt) {
    Expansion expansion;
    expansion_ = &expansion;
    best_ = goal.value;
    n_hits_ = 0;
    max_hits_ = shares_.empty() ? no_limit : 0;
    if (node.part == Part::axis) {
        look_at(node.local, node.index, node.index + 1, interrupt);
    } else if (const auto local = brancher_.divide(node, goal, interrupt, expansion)) {
        look_at(local, 0, local->axes.size(), interrupt);
    }
    if (interrupt.is_requested()) return {};
    expansion.is_complete = true;
    return expansion;
}

/// Looks at all queries whose first axis is one of the given ones.
void Expander::look_at(std::shared_ptr<const LocalProblem> local, std::size_t first_axis,
                       std::size_t end_axis, const Interrupt& interrupt) {
    local_ = std::move(local);
    const std::size_t n_axes = local_->axes.size(), n_conditions = local_->n_conditions;
    for (std::size_t f = first_axis; f < end_axis; ++f) {
        // One axis twice: two or three of its conditions.
        scan({f}, f, n_conditions > 2 ? n_conditions - 2 : 0, interrupt);
        if (n_conditions >= 4) scan({f, f}, f + 1, n_conditions - 3, interrupt);
        for (std::size_t e = f + 1; e < n_axes && n_conditions >= 3; ++e) {
            scan({f, e}, n_conditions == 3 ? e + 1 : e, n_conditions - 3, interrupt);
            for (std::size_t d = e + 1; d < n_axes && n_conditions >= 4; ++d)
                scan({f, e, d}, d + 1, n_conditions - 4, interrupt);
            if (interrupt.is_requested()) return;
        }
    }
}

/// Looks at all sets with a mask on each of the given axes and on one from `first` on.
void Expander::scan(const std::vector<std::size_t>& outer, std::size_t first, std::size_t n_pairs,
                    const Interrupt& interrupt) {
    scan_ = {};
    scan_.n_axes = outer.size();
    outer_ = outer;
    n_cells_ = 1;
    for (std::size_t k = 0; k < outer.size(); ++k) {
        scan_.axes[k] = local_->axes[outer[k]].view();
        n_cells_ *= scan_.axes[k].n_bins;
    }
    if (local_->pairs) {
        scan_.pairs = local_->pairs->pairs().bits;
        scan_.pair_stride = local_->pairs->pairs().stride;
    }
    scan_.context = this;
    scan_.on_hit = [](void* context, const std::uint32_t* masks, std::size_t lane) {
        static_cast<Expander*>(context)->check(masks, lane);
    };
    interrupt_ = &interrupt;
    scan_.is_stopped = [](void* context) {
        auto* const expander = static_cast<Expander*>(context);
        return expander->has_too_many_hits() || expander->interrupt_->is_requested();
    };
    base_.clear();
    if (max_hits_ < no_limit) {
        max_hits_ += affordable_hits(first);
        scan_with(rough_, first, n_pairs, interrupt);
        if (!has_too_many_hits()) return;
        max_hits_ = no_limit;
    }
    scan_with(detailed_, first, n_pairs, interrupt);
}

/// How many sets may be looked at one by one before it would be cheaper to add up what terms
/// imitate of all. Counted rather than measured, in about nanoseconds.
std::uint64_t Expander::affordable_hits(std::size_t first) const {
    const auto n_components = static_cast<double>(problem_.refitted.n_components);
    const auto n_rows = static_cast<double>(local_->rows.size());
    double n_sets = 1.0, n_lanes = 0.0;
    for (const std::size_t axis : outer_)
        n_sets *= static_cast<double>(local_->axes[axis].n_singles);
    for (std::size_t axis = first; axis < local_->axes.size(); ++axis)
        n_lanes += static_cast<double>(local_->axes[axis].n_singles);
    const double n_tables = static_cast<double>(local_->axes.size() - first);
    const double saved = n_components * (n_rows * n_tables + n_sets * n_lanes) / 4.0;
    return static_cast<std::uint64_t>(saved / set_sums_.cost());
}

void Expander::scan_with(Packings& packings, std::size_t first, std::size_t n_pairs,
                         const Interrupt& interrupt) {
    const bool is_rough = &packings == &rough_;
    std::shared_ptr<PackedTables>& rows = is_rough ? rough_rows_ : detailed_rows_;
    if (!rows || !rows->is_for(local_.get(), best_)) {
        rows = nullptr;  // before there are others
        rows = packings.rows_for(local_, best_);
    }
    rows_ = rows.get();
    const Packing& packing = rows_->packing;
    wanted_ = packing.wanted(best_);
    if (is_rough && !packing.is_possible(wanted_)) {
        n_hits_ = max_hits_ + 1;
        return;
    }
    max_lanes_ = padded_lanes(max_lane_sums / packing.sums().size());
    wanted_.set(scan_);
    scan_.shares = is_rough && !problem_.refitted.empty() ? shares_.data() : nullptr;
    last_axis_ = nullptr;
    const std::vector<Axis>& axes = local_->axes;
    // A single condition is its axis twice.
    const std::size_t end = local_->n_conditions == 1 ? first + 1 : axes.size();
    const auto is_over = [&] { return has_too_many_hits() || interrupt.is_requested(); };
    scan_.n_pairs = n_pairs;
    for (std::size_t axis = first; axis < end && !is_over(); ++axis)
        add_lanes(axis, 0, axes[axis].n_singles);
    scan_lanes();
    if (n_pairs == 0 || is_over()) return;
    scan_.n_pairs = n_pairs - 1;
    for (std::size_t axis = first; axis < axes.size() && !is_over(); ++axis)
        add_lanes(axis, axes[axis].n_singles, axes[axis].masks.size());
    scan_lanes();
}

/// Adds masks to the lanes, and looks at them whenever there is no room for more.
void Expander::add_lanes(std::size_t axis, std::size_t first_mask, std::size_t end_mask) {
    while (first_mask < end_mask) {
        if (n_lanes_ == max_lanes_) scan_lanes();
        const std::size_t n_masks = std::min(end_mask - first_mask, max_lanes_ - n_lanes_);
        groups_.push_back({axis, first_mask, n_masks, n_lanes_});
        if (scan_.shares != nullptr) add_lane_shares(local_->axes[axis], first_mask, n_masks);
        n_lanes_ += n_masks;
        first_mask += n_masks;
    }
}

void Expander::add_lane_shares(const Axis& axis, std::size_t first_mask, std::size_t n_masks) {
    for (std::size_t mask = first_mask; mask < first_mask + n_masks; ++mask) {
        const auto& [a, b] = axis.columns[mask];
        lane_shares_.push_back(std::max(shares_[a], shares_[b]));
    }
}

/// Looks at the sets with one of the masks in the lanes, which are empty afterwards.
void Expander::scan_lanes() {
    Lanes& lanes = scan_.lanes;
    lanes = {padded_lanes(n_lanes_), rows_->packing.sums()};
    lanes_.assign(n_cells_ * lanes.row_size() + lanes_at_once, 0);
    const std::size_t stride = rows_->packing.sums().stride();
    for (const Group& group : groups_) {
        const Axis& axis = local_->axes[group.axis];
        sums_.resize(std::max(sums_.size(), (axis.n_singles + 2) * stride));
        if (last_axis_ != &axis) add_rows(axis);
        kernels_.fill_lanes(cells_.data(), n_cells_, axis.view(), group.first_mask, group.n_masks,
                            sums_.data(), lanes, lanes_.data() + group.first_lane);
    }
    if (n_lanes_ > 0) {
        buffer_.resize(std::max(buffer_.size(), scan_buffer_size(scan_)));
        scan_.cells = lanes_.data();
        scan_.buffer = buffer_.data();
        lane_shares_.resize(lanes.size, 1.0F);
        scan_.lane_shares = lane_shares_.data();
        expansion_->counters.n_table_sets += kernels_.scan_table(scan_);
    }
    groups_.clear();
    lane_shares_.clear();
    n_lanes_ = 0;
}

/// Sets: the cells of a table with one more axis, which stay for further masks of it.
void Expander::add_rows(const Axis& axis) {
    const std::size_t n_rows = local_->rows.size(), stride = rows_->packing.sums().stride();
    last_axis_ = &axis;
    ++expansion_->counters.n_tables;
    expansion_->counters.n_table_rows += n_rows;
    const Packing& packing = rows_->packing;
    if (packing.is_fine()) {
        std::vector<std::size_t> axes = outer_;
        axes.push_back(static_cast<std::size_t>(&axis - local_->axes.data()));
        rows_->tables.add_up(axes, fine_cells_);
        packing.round(fine_cells_, cells_);
        return;
    }
    if (base_.empty()) {
        base_.resize(n_rows);
        for (const std::size_t outer : outer_)
            kernels_.number_cells(local_->axes[outer].codes.data(), local_->axes[outer].n_bins,
                                  n_rows, base_.data());
    }
    cells_.assign(n_cells_ * axis.n_bins * stride, 0);
    kernels_.add_rows({base_.data(), axis.codes.data(), packing.entries(), n_rows}, axis.n_bins,
                      stride, cells_.data());
}

/// Offers a set if it is as good as it looks.
void Expander::check(const std::uint32_t* masks, std::size_t lane) {
    if (++n_hits_ > max_hits_) return;
    ++expansion_->counters.n_evaluations;
    std::vector<std::size_t> query(local_->prefix.begin(), local_->prefix.end());
    const auto add = [&](const Axis& axis, std::size_t mask) {
        for (const std::uint32_t column : axis.columns[mask]) query.push_back(column);
    };
    for (std::size_t k = 0; k < outer_.size(); ++k) add(local_->axes[outer_[k]], masks[k]);
    const auto group = std::find_if(groups_.rbegin(), groups_.rend(),
                                    [&](const Group& entry) { return entry.first_lane <= lane; });
    add(local_->axes[group->axis], group->first_mask + (lane - group->first_lane));
    std::sort(query.begin(), query.end());
    query.erase(std::unique(query.begin(), query.end()), query.end());
    if (query.size() > limits_.max_conditions) return;  // the same axis twice, for one condition
    BitSet extent = problem_.extents.extent_of(query);
    const auto [value, sums] = set_sums_.worth(extent);
    if (value < best_ || value == 0.0 || sums.coverage < limits_.min_coverage) return;
    if (limits_.n_best > 1) {
        keep(value, std::move(query), std::move(extent));
    } else {
        if (value > best_) expansion_->offers.clear();
        best_ = value;
        expansion_->offers.push_back({value, std::move(query)});
    }
    wanted_ = rows_->packing.wanted(best_);
    wanted_.set(scan_);
}

/// Keeps as many sets as are wanted; with one more, the least of them leaves.
void Expander::keep(double value, std::vector<std::size_t> query, BitSet extent) {
    std::vector<Offer>& offers = expansion_->offers;
    if (offers.empty()) extents_.clear();
    if (std::find(extents_.begin(), extents_.end(), extent) != extents_.end()) return;
    offers.push_back({value, std::move(query)});
    extents_.push_back(std::move(extent));
    const auto is_less = [](const Offer& a, const Offer& b) { return a.value < b.value; };
    if (offers.size() > limits_.n_best) {
        const auto least = std::min_element(offers.begin(), offers.end(), is_less);
        extents_.erase(extents_.begin() + (least - offers.begin()));
        offers.erase(least);
    }
    if (offers.size() == limits_.n_best)
        best_ = std::max(best_, std::min_element(offers.begin(), offers.end(), is_less)->value);
}

}  // namespace rulesearch::tables

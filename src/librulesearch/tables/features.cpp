#include "librulesearch/tables/features.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace rulesearch::tables {
namespace {

// A feature of many categories goes on in another one: tables stay small.
constexpr std::size_t max_natural_bins = 128;

/// A feature while it is found: its bins as sets of distinct rows.
struct Partition {
    std::vector<std::uint32_t> columns;
    std::vector<BitSet> bins;

    /// Splits the bins by a column if that gives at most one more of them.
    bool try_to_add(std::uint32_t column, const BitSet& extent);
};

/// Whether a set has members on both sides of another one.
bool is_split(const BitSet& bin, const BitSet& extent) {
    bool has_inside = false, has_outside = false;
    for (std::size_t w = 0; w < bin.words().size(); ++w) {
        const Word inside = bin.words()[w] & extent.words()[w];
        has_inside |= inside != 0;
        has_outside |= inside != bin.words()[w];
        if (has_inside && has_outside) return true;
    }
    return false;
}

bool Partition::try_to_add(std::uint32_t column, const BitSet& extent) {
    std::size_t split_bin = bins.size();
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
        if (!is_split(bins[bin], extent)) continue;
        if (split_bin < bins.size()) return false;
        split_bin = bin;
    }
    if (split_bin < bins.size()) {
        if (bins.size() == max_natural_bins) return false;
        BitSet inside = bins[split_bin];
        inside &= extent;
        bins[split_bin] -= extent;
        bins.push_back(std::move(inside));
    }
    columns.push_back(column);
    return true;
}

Feature make_feature(const Partition& partition, const Extents& extents) {
    Feature feature;
    feature.columns = partition.columns;
    feature.codes.resize(extents.n_distinct_rows());
    feature.n_bins = partition.bins.size();
    feature.masks.resize(partition.columns.size());
    for (std::size_t bin = 0; bin < feature.n_bins; ++bin) {
        std::size_t some_row = 0;
        partition.bins[bin].for_each([&](std::size_t row) {
            feature.codes[row] = static_cast<std::uint8_t>(bin);
            some_row = row;
        });
        for (std::size_t c = 0; c < feature.columns.size(); ++c)
            feature.masks[c][bin] = extents.extent(feature.columns[c]).contains(some_row);
    }
    return feature;
}

/// Columns as masks over the bins of one axis, while it is made.
struct Draft {
    std::vector<std::uint8_t> codes;
    std::size_t n_bins = 1;
    std::vector<std::pair<std::uint32_t, Mask>> singles;
};

/// What is left of a feature among some rows and columns.
Draft localized(const Feature& feature, std::span<const std::uint32_t> rows,
                const BitSet& allowed_columns) {
    Draft draft;
    Mask present;
    for (const std::uint32_t row : rows) present.set(feature.codes[row]);
    for (std::size_t c = 0; c < feature.columns.size(); ++c) {
        if (!allowed_columns.contains(feature.columns[c])) continue;
        const Mask mask = feature.masks[c] & present;
        const bool is_constant = mask.none() || mask == present;
        const bool is_known =
            std::any_of(draft.singles.begin(), draft.singles.end(),
                        [&](const auto& single) { return single.second == mask; });
        if (!is_constant && !is_known) draft.singles.emplace_back(feature.columns[c], mask);
    }
    if (draft.singles.empty()) return draft;
    // Bins that no column distinguishes become one.
    std::array<std::uint8_t, max_bins> new_code{};
    for (const auto& [column, mask] : draft.singles) {
        std::array<std::uint8_t, max_bins> inside{};  // by code: that of its part in the mask
        std::array<bool, max_bins> has_outside{};
        for (std::size_t bin = 0; bin < feature.n_bins; ++bin)
            if (present[bin] && !mask[bin]) has_outside[new_code[bin]] = true;
        for (std::size_t bin = 0; bin < feature.n_bins; ++bin) {
            if (!mask[bin] || !has_outside[new_code[bin]]) continue;
            std::uint8_t& code = inside[new_code[bin]];
            if (code == 0) code = static_cast<std::uint8_t>(draft.n_bins++);
            new_code[bin] = code;
        }
    }
    for (auto& [column, mask] : draft.singles) {
        Mask merged;
        for (std::size_t bin = 0; bin < feature.n_bins; ++bin)
            if (mask[bin]) merged.set(new_code[bin]);
        mask = merged;
    }
    draft.codes.reserve(rows.size());
    for (const std::uint32_t row : rows) draft.codes.push_back(new_code[feature.codes[row]]);
    return draft;
}

/// Joins two features: a bin for each of one with each of the other.
void join(Draft& draft, const Draft& other) {
    const std::size_t n_bins = draft.n_bins;
    for (auto& [column, mask] : draft.singles) {
        const Mask once = mask;
        for (std::size_t k = 1; k < other.n_bins; ++k) mask |= once << (k * n_bins);
    }
    for (const auto& [column, mask] : other.singles) {
        Mask wider;
        for (std::size_t bin = 0; bin < other.n_bins * n_bins; ++bin)
            wider[bin] = mask[bin / n_bins];
        draft.singles.emplace_back(column, wider);
    }
    for (std::size_t row = 0; row < draft.codes.size(); ++row)
        draft.codes[row] = static_cast<std::uint8_t>(draft.codes[row] + other.codes[row] * n_bins);
    draft.n_bins *= other.n_bins;
}

void add_bins(const Mask& mask, std::size_t n_bins, std::vector<std::uint8_t>& bins) {
    for (std::size_t bin = 0; bin < n_bins; ++bin)
        if (mask[bin]) bins.push_back(static_cast<std::uint8_t>(bin));
}

/// Makes a mask from the one of the given parents that is nearest.
void add_mask(Axis& axis, const Mask& mask,
              const std::vector<std::pair<std::int32_t, Mask>>& parents) {
    const std::pair<std::int32_t, Mask>* best = nullptr;
    for (const auto& parent : parents)
        if (best == nullptr || (mask ^ parent.second).count() < (mask ^ best->second).count())
            best = &parent;
    const Mask added = mask & ~best->second, removed = best->second & ~mask;
    axis.masks.push_back({best->first, static_cast<std::uint32_t>(axis.bins.size()),
                          static_cast<std::uint16_t>(added.count()),
                          static_cast<std::uint16_t>(removed.count())});
    add_bins(added, axis.n_bins, axis.bins);
    add_bins(removed, axis.n_bins, axis.bins);
}

Axis make_axis(Draft draft, bool has_pairs, const AllowedPairs& is_allowed) {
    Axis axis;
    axis.codes = std::move(draft.codes);
    axis.n_bins = draft.n_bins;
    axis.n_singles = draft.singles.size();
    Mask all;
    for (std::size_t bin = 0; bin < axis.n_bins; ++bin) all.set(bin);
    std::vector<std::pair<std::int32_t, Mask>> parents{{-1, Mask()}, {0, all}};
    for (const auto& [column, mask] : draft.singles) {
        add_mask(axis, mask, parents);
        axis.columns.push_back({column, column});
        parents.emplace_back(static_cast<std::int32_t>(axis.masks.size()), mask);
    }
    if (!has_pairs) return axis;
    std::unordered_set<Mask> known;
    for (const auto& [column, mask] : draft.singles) known.insert(mask);
    for (std::size_t i = 0; i < draft.singles.size(); ++i) {
        for (std::size_t j = i + 1; j < draft.singles.size(); ++j) {
            if (!is_allowed(draft.singles[i].first, draft.singles[j].first)) continue;
            const Mask both = draft.singles[i].second & draft.singles[j].second;
            if (both.none() || !known.insert(both).second) continue;
            add_mask(axis, both, {parents[i + 2], parents[j + 2]});
            axis.columns.push_back({draft.singles[i].first, draft.singles[j].first});
        }
    }
    return axis;
}

std::vector<Feature> sort_into_features(const Extents& extents) {
    std::vector<Partition> partitions;
    std::vector<std::size_t> partition_of_chain(extents.n_chains(), 0);
    for (std::uint32_t column = 0; column < extents.n_columns(); ++column) {
        const BitSet& extent = extents.extent(column);
        std::size_t& of_chain = partition_of_chain[extents.link(column).chain];
        bool is_added = !partitions.empty() && partitions.back().try_to_add(column, extent);
        if (is_added) {
            of_chain = partitions.size();
        } else if (of_chain > 0 && of_chain < partitions.size()) {
            is_added = partitions[of_chain - 1].try_to_add(column, extent);
        }
        if (is_added) continue;
        partitions.emplace_back().bins.emplace_back(extents.n_distinct_rows(), true);
        partitions.back().try_to_add(column, extent);
        of_chain = partitions.size();
    }
    std::vector<Feature> features;
    for (const Partition& partition : partitions)
        features.push_back(make_feature(partition, extents));
    return features;
}

}  // namespace

const std::vector<Feature>& find_features(const Extents& extents) {
    return extents.features<std::vector<Feature>>([&] { return sort_into_features(extents); });
}

std::vector<Axis> make_axes(const std::vector<Feature>& features,
                            std::span<const std::uint32_t> rows, const BitSet& allowed_columns,
                            std::size_t max_joined_bins, bool has_pairs,
                            const AllowedPairs& is_allowed) {
    std::vector<Draft> drafts;
    for (const Feature& feature : features) {
        Draft draft = localized(feature, rows, allowed_columns);
        if (!draft.singles.empty()) drafts.push_back(std::move(draft));
    }
    std::stable_sort(drafts.begin(), drafts.end(),
                     [](const Draft& a, const Draft& b) { return a.n_bins > b.n_bins; });
    std::vector<Draft> joined;
    for (Draft& draft : drafts) {
        const auto room = std::find_if(joined.begin(), joined.end(), [&](const Draft& other) {
            return other.n_bins * draft.n_bins <= max_joined_bins;
        });
        if (room == joined.end()) {
            joined.push_back(std::move(draft));
        } else {
            join(*room, draft);
        }
    }
    std::vector<Axis> axes;
    for (Draft& draft : joined) axes.push_back(make_axis(std::move(draft), has_pairs, is_allowed));
    std::stable_sort(axes.begin(), axes.end(),
                     [](const Axis& a, const Axis& b) { return a.n_singles < b.n_singles; });
    return axes;
}

}  // namespace rulesearch::tables

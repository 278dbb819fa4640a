#include "librulesearch/slopes/binned_sums.hpp"

#include <algorithm>

#include "librulesearch/engine/workers.hpp"

namespace rulesearch {
namespace {

// The numbers of so many rows stay in a cache while they are added for one feature after the other.
constexpr std::size_t rows_at_once = 512;

/// Adds rows of numbers, side by side, to the sums of one feature after the other.
class BinSums {
  public:
    BinSums(const std::vector<const double*>& columns, std::size_t n_powers, std::size_t n_bins)
        : columns_(columns), n_powers_(n_powers), n_bins_(n_bins) {}

    void add(std::span<const BinnedFeature> features, std::size_t n_rows, double* sums) {
        values_.resize(rows_at_once * columns_.size());
        const std::size_t size = n_powers_ * n_bins_ * columns_.size();
        for (std::size_t begin = 0; begin < n_rows; begin += rows_at_once) {
            const std::size_t end = std::min(begin + rows_at_once, n_rows);
            take(end - begin, [&](std::size_t i) { return begin + i; });
            for (std::size_t f = 0; f < features.size(); ++f)
                if (features[f].rows == nullptr)
                    add_block(features[f], begin, end, sums + f * size);
        }
        for (std::size_t f = 0; f < features.size(); ++f)
            if (features[f].rows != nullptr) add_stored(features[f], sums + f * size);
    }

  private:
    void add_stored(const BinnedFeature& feature, double* sums) {
        for (std::size_t begin = 0; begin < feature.size; begin += rows_at_once) {
            const std::size_t end = std::min(begin + rows_at_once, feature.size);
            take(end - begin,
                 [&](std::size_t i) { return static_cast<std::size_t>(feature.rows[begin + i]); });
            add_block(feature, begin, end, sums);
        }
    }

    /// Sets: the numbers of some rows, those of one row side by side.
    template <typename RowOf>
    void take(std::size_t n_rows, RowOf&& row_of) {
        for (std::size_t k = 0; k < columns_.size(); ++k)
            for (std::size_t i = 0; i < n_rows; ++i)
                values_[i * columns_.size() + k] = columns_[k][row_of(i)];
    }

    void add_block(const BinnedFeature& feature, std::size_t begin, std::size_t end, double* sums) {
        const std::size_t n_columns = columns_.size();
        for (std::size_t i = begin; i < end; ++i) levels_[i - begin] = feature.level(i);
        for (std::size_t i = begin; i < end; ++i) {
            const double* __restrict values = values_.data() + (i - begin) * n_columns;
            double* __restrict cell = sums + feature.bins[i] * n_columns;
            for (std::size_t k = 0; k < n_columns; ++k) cell[k] += values[k];
            double factor = 1.0;
            for (std::size_t power = 1; power < n_powers_; ++power) {
                factor *= levels_[i - begin];
                cell += n_bins_ * n_columns;
                for (std::size_t k = 0; k < n_columns; ++k) cell[k] += factor * values[k];
            }
        }
    }

    const std::vector<const double*>& columns_;
    std::size_t n_powers_, n_bins_;
    std::vector<double> values_;
    double levels_[rows_at_once];
};

}  // namespace

void sum_bins(std::span<const BinnedFeature> features, const std::vector<const double*>& columns,
              std::size_t n_rows, std::size_t n_powers, std::size_t n_bins, std::size_t n_workers,
              double* sums) {
    const std::size_t n_parts = std::min(n_workers, std::max<std::size_t>(features.size(), 1));
    Workers(n_parts).run(
        n_parts,
        [&](std::size_t, std::size_t part) {
            const std::size_t begin = part * features.size() / n_parts;
            const std::size_t end = (part + 1) * features.size() / n_parts;
            BinSums(columns, n_powers, n_bins)
                .add(features.subspan(begin, end - begin), n_rows,
                     sums + begin * n_powers * n_bins * columns.size());
        },
        [] {});
}

}  // namespace rulesearch

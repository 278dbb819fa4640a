#include "librulesearch/tables/shares.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "librulesearch/tables/pair_graph.hpp"

namespace rulesearch::tables {
namespace {

// Rows whose vectors stay in the cache while they are added to all features.
constexpr std::size_t rows_at_once = 1024;
// Shares are multiples of 2^-n_halvings.
constexpr int n_halvings = 6;
// Columns of about the same share have their bounds made together.
constexpr std::size_t n_levels = 16;
// Of the largest share, 1: more than the rounding errors of sums and of a decomposition.
constexpr double rounding = 1e-6;

/// The lower triangle of a symmetric matrix, row by row.
using Triangle = std::vector<double>;

/// Vectors of some rows, divided by the roots of their hessians, one after the other.
class ScaledRows {
  public:
    explicit ScaledRows(const Problem& problem)
        : problem_(problem), size_(problem.refitted.n_components), numbers_(rows_at_once * size_) {}

    void read(std::size_t first, std::size_t end) {
        for (std::size_t k = 0; k < size_; ++k) {
            const double* component = problem_.refitted.component(k);
            for (std::size_t row = first; row < end; ++row) {
                const double hessian = problem_.rows[row].hessian;
                // Without hessian, terms imitate nothing, up to rounding errors.
                const double root = std::sqrt(std::max(hessian, 1e-300));
                numbers_[(row - first) * size_ + k] = component[row] / root;
            }
        }
    }
    const double* row(std::size_t i) const { return numbers_.data() + i * size_; }

    /// Adds the product of a row with itself.
    void add_square(std::size_t i, double* triangle) const {
        const double* numbers = row(i);
        for (std::size_t a = 0; a < size_; triangle += ++a)
            for (std::size_t b = 0; b <= a; ++b) triangle[b] += numbers[a] * numbers[b];
    }

  private:
    const Problem& problem_;
    std::size_t size_;
    std::vector<double> numbers_;
};

/// Whether limit * I - X is positive definite.
bool is_below(const Triangle& x, std::size_t size, double limit, Triangle& factor) {
    factor.resize(x.size());
    const auto start = [](std::size_t row) { return row * (row + 1) / 2; };
    for (std::size_t i = 0; i < size; ++i) {
        double* row = factor.data() + start(i);
        for (std::size_t j = 0; j <= i; ++j) {
            const double* other = factor.data() + start(j);
            double left = (i == j ? limit : 0.0) - x[start(i) + j];
            for (std::size_t k = 0; k < j; ++k) left -= row[k] * other[k];
            if (i != j) {
                row[j] = left / other[j];
            } else if (left > 0.0) {
                row[i] = std::sqrt(left);
            } else {
                return false;
            }
        }
    }
    return true;
}

/// The largest share for which there is a decomposition.
float share_of(const Triangle& x, std::size_t size, Triangle& factor) {
    double share = 0.0;
    for (double step = 0.5; step >= std::ldexp(1.0, -n_halvings); step /= 2.0)
        if (is_below(x, size, 1.0 - share - step - rounding, factor)) share += step;
    return static_cast<float>(share);
}

}  // namespace

std::vector<float> least_shares(const Problem& problem, const std::vector<Feature>& features) {
    const std::size_t n_rows = problem.rows.size(), size = problem.refitted.n_components;
    const std::size_t n_entries = size * (size + 1) / 2;
    std::vector<Triangle> of_bins;
    for (const Feature& feature : features) of_bins.emplace_back(feature.n_bins * n_entries, 0.0);
    ScaledRows rows(problem);
    for (std::size_t first = 0; first < n_rows; first += rows_at_once) {
        const std::size_t end = std::min(n_rows, first + rows_at_once);
        rows.read(first, end);
        for (std::size_t f = 0; f < features.size(); ++f)
            for (std::size_t row = first; row < end; ++row)
                rows.add_square(row - first, &of_bins[f][features[f].codes[row] * n_entries]);
    }
    std::vector<float> shares(problem.extents.n_columns(), 0.0F);
    Triangle x(n_entries), factor;
    for (std::size_t f = 0; f < features.size(); ++f) {
        for (std::size_t c = 0; c < features[f].columns.size(); ++c) {
            std::fill(x.begin(), x.end(), 0.0);
            for (std::size_t bin = 0; bin < features[f].n_bins; ++bin) {
                if (!features[f].masks[c][bin]) continue;
                const double* of_bin = &of_bins[f][bin * n_entries];
                for (std::size_t k = 0; k < n_entries; ++k) x[k] += of_bin[k];
            }
            shares[features[f].columns[c]] = share_of(x, size, factor);
        }
    }
    return shares;
}

std::vector<double> bounds_by_share(const Problem& problem, const std::vector<float>& shares,
                                    const std::vector<Axis>& axes, std::size_t n_conditions,
                                    double value, const Kernels& kernels) {
    std::vector<double> bounds(shares.size(), std::numeric_limits<double>::infinity());
    for (std::size_t level = 1; level < n_levels; ++level) {
        const double share = static_cast<double>(level) / n_levels;
        const auto is_at_level = [&](float of_column) {
            return static_cast<std::size_t>(of_column * n_levels) == level;
        };
        if (std::none_of(shares.begin(), shares.end(), is_at_level)) continue;
        const Question question{problem.rows, problem.l2_regularization / share, n_conditions,
                                share * value};
        if (!question.has_prices()) continue;
        const std::vector<double> at_level = column_bounds(question, axes, shares.size(), kernels);
        for (std::size_t column = 0; column < shares.size(); ++column)
            if (is_at_level(shares[column])) bounds[column] = at_level[column] / share;
    }
    return bounds;
}

}  // namespace rulesearch::tables

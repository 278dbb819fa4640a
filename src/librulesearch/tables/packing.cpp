#include "librulesearch/tables/packing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rulesearch::tables {
namespace {

// Sums are whole numbers below this.
constexpr double max_sum = 1 << 30;
constexpr int max_shift = 30;
// Of a float, with room for a few roundings.
constexpr double float_slack = 1e-6;
// Of more rows, rounding errors let too many sets seem wanted.
constexpr std::size_t few_rows = 1 << 14;
// Their numbers stay in the cache while one component after the other is written.
constexpr std::size_t rows_at_once = 1 << 12;

/// Cells of the largest table.
double most_cells(const LocalProblem& local) {
    std::vector<double> n_bins;
    for (const Axis& axis : local.axes) n_bins.push_back(static_cast<double>(axis.n_bins));
    std::sort(n_bins.rbegin(), n_bins.rend());
    double n_cells = 1.0;
    // Tables of few conditions have one axis twice.
    for (std::size_t k = 0; k < std::max<std::size_t>(local.n_conditions, 2); ++k)
        n_cells *= n_bins[std::min(k, n_bins.size() - 1)];
    return n_cells;
}

std::int32_t whole(double number) { return static_cast<std::int32_t>(number); }

}  // namespace

Packing::Packing(const Problem& problem, const Limits& limits, bool has_components,
                 std::shared_ptr<const LocalProblem> local, double value)
    : problem_(problem),
      limits_(limits),
      has_shares_(!has_components && !problem.refitted.empty()),
      sums_{has_components ? problem.refitted.n_components : 0, limits.min_coverage > 0.0},
      local_(std::move(local)),
      value_(value) {
    pack();
}

double Packing::value_near(double value) {
    return value > 0.0 ? std::ldexp(1.0, std::ilogb(value)) : 0.0;
}

void Packing::pack() {
    const LocalProblem& local = *local_;
    is_fine_ = local.rows.size() > few_rows;
    n_rows_ = static_cast<double>(local.rows.size());
    n_cells_ = is_fine_ ? std::min(most_cells(local), n_rows_) : 0.0;
    const std::size_t stride = sums_.stride();
    entries_.assign(local.rows.size() * stride, 0);
    shifts_.assign(stride, 0);
    Statistics sums;  // of magnitudes
    double largest = 0.0;
    for (const Statistics& row : local.sums) {
        sums += {std::abs(row.gradient), row.hessian, row.coverage};
        largest = std::max(largest, std::abs(row.gradient));
    }
    const Scale scale = scale_for(sums.gradient, largest);
    const double part = std::ldexp(scale.unit, -scale.shift);
    for (std::size_t i = 0; i < local.rows.size(); ++i)
        entries_[i * stride] = whole(std::nearbyint(local.sums[i].gradient / part));
    shifts_[0] = scale.shift;
    error_ = (std::ldexp(n_rows_, -scale.shift) + n_cells_) / 2.0;
    square_of_rows_ = std::ldexp(1.0, -2 * scale.shift);
    square_of_cells_ = 1.0;
    wanted_ = value_ * (1.0 - problem_.slack()) / (scale.unit * scale.unit);
    pack_components();
    const double longest = std::sqrt(wanted_ * (problem_.l2_regularization + sums.hessian));
    const double of_shares = has_shares_ ? 1.0 / least_share : 1.0;
    const auto charge = [&](double square) {
        return (longest * std::sqrt(square) * 1.0001 + 1.0) * of_shares;
    };
    pack_needs(wanted_ * sums.hessian, charge(square_of_rows_), charge(square_of_cells_));
    if (sums_.has_coverage) pack_coverages();
}

Packing::Scale Packing::scale_for(double sum, double largest) const {
    Scale scale{sum / (max_sum - n_rows_)};
    if (is_fine_ && scale.unit > 0.0)
        scale.shift = std::clamp(std::ilogb(max_sum * scale.unit / largest), 0, max_shift);
    return scale;
}

/// Sets: the components of what each row adds, and lengths of the vectors of units. Squares are
/// those of what is wanted times what terms imitate.
void Packing::pack_components() {
    const RefittedTerms& refitted = problem_.refitted;
    std::vector<double> parts;
    for (std::size_t k = 0; k < sums_.n_components; ++k) {
        const double* component = refitted.component(k);
        double sum = 0.0, largest = 0.0;
        for (const std::uint32_t row : local_->rows) {
            const double magnitude = std::abs(component[row]);
            sum += magnitude;
            largest = std::max(largest, magnitude);
        }
        const Scale scale = scale_for(sum, largest);
        const double square = scale.unit * scale.unit * wanted_;
        squares_.push_back(square);
        square_of_cells_ += square;
        square_of_rows_ += std::ldexp(square, -2 * scale.shift);
        shifts_[2 + k] = scale.shift;
        parts.push_back(std::ldexp(scale.unit, -scale.shift));
    }
    const std::size_t n_rows = local_->rows.size(), stride = sums_.stride();
    for (std::size_t begin = 0; begin < n_rows; begin += rows_at_once) {
        const std::size_t end = std::min(begin + rows_at_once, n_rows);
        for (std::size_t k = 0; k < sums_.n_components; ++k) {
            if (parts[k] == 0.0) continue;
            const double* component = refitted.component(k);
            for (std::size_t i = begin; i < end; ++i)
                entries_[i * stride + 2 + k] =
                    whole(std::nearbyint(component[local_->rows[i]] / parts[k]));
        }
    }
}

/// Sets: what G^2 has to make up for, of each row and for the rounding errors of it and of its
/// cell.
void Packing::pack_needs(double wanted_hessians, double of_row, double of_cell) {
    const double charges = of_row * n_rows_ + of_cell * n_cells_;
    need_ = std::max(1.0, (wanted_hessians + charges) / max_sum);
    charge_of_cell_ = is_fine_ ? whole(std::ceil(of_cell / need_)) : 0;
    double largest = 0.0;
    for (const Statistics& row : local_->sums)
        largest = std::max(largest, std::abs(wanted_ * row.hessian - of_row));
    if (is_fine_ && largest > 0.0)
        shifts_[1] = std::clamp(std::ilogb(max_sum * need_ / largest), 0, max_shift);
    const double part = std::ldexp(need_, -shifts_[1]);
    for (std::size_t i = 0; i < local_->rows.size(); ++i)
        entries_[i * sums_.stride() + 1] =
            whole(std::floor((wanted_ * local_->sums[i].hessian - of_row) / part));
}

/// Sets: the coverages of what each row adds, rounded up, so that no set that covers enough seems
/// to cover less.
void Packing::pack_coverages() {
    double sum = 0.0;
    for (const Statistics& row : local_->sums) sum += row.coverage;
    const double part = std::max(1.0, sum / (max_sum - n_rows_));
    for (std::size_t i = 0; i < local_->rows.size(); ++i)
        entries_[i * sums_.stride() + sums_.size() - 1] =
            whole(std::ceil(local_->sums[i].coverage / part));
    const double least = std::floor(limits_.min_coverage / part * (1.0 - rounding_slack));
    min_coverage_ = whole(std::min(least, max_sum));
}

/// Charges grow as the value does; Y and the lengths of units, in which squares are those of the
/// value, as its root.
Packing::Wanted Packing::wanted(double value) const {
    const double growth = value_ > 0.0 ? value / value_ : 1.0;
    const double slack = float_slack * static_cast<double>(1 + sums_.n_components);
    const double lambda = wanted_ * growth * problem_.l2_regularization;
    Wanted result;
    result.scale = static_cast<float>(need_ * growth * (1.0 - slack));
    result.threshold = static_cast<float>(lambda * (1.0 - slack));
    const double least = std::sqrt(lambda) - error_;
    result.least_square = least > 0.0 ? static_cast<float>(least * least * (1.0 - slack)) : -1.0F;
    // A share of 0 leaves no room for charges.
    if (has_shares_) result.threshold = result.least_square;
    for (const double square : squares_)
        result.square_scales.push_back(static_cast<float>(square * growth));
    result.min_coverage = min_coverage_;
    return result;
}

void Packing::Wanted::set(TableScan& scan) const {
    scan.scale = scale;
    scan.threshold = threshold;
    scan.least_square = least_square;
    scan.square_scales = square_scales.data();
    scan.min_coverage = min_coverage;
}

void Packing::round(const std::vector<std::int64_t>& sums, std::vector<std::int32_t>& cells) const {
    const std::size_t stride = sums_.stride();
    std::vector<std::int64_t> halves;
    for (const int shift : shifts_)
        halves.push_back(shift > 0 ? std::int64_t{1} << (shift - 1) : 0);
    halves[1] = 0;  // rounded down
    cells.resize(sums.size());
    for (std::size_t cell = 0; cell < sums.size(); cell += stride) {
        std::int64_t any = 0;
        for (std::size_t k = 0; k < stride; ++k) {
            const std::int64_t sum = sums[cell + k];
            any |= sum;
            cells[cell + k] = static_cast<std::int32_t>((sum + halves[k]) >> shifts_[k]);
        }
        if (any != 0) cells[cell + 1] -= charge_of_cell_;
    }
}

}  // namespace rulesearch::tables

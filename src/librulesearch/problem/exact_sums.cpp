#include "librulesearch/problem/exact_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace rulesearch {
namespace {

// Rounding copies of a row instead of their sum costs a bit of precision for every factor of two in
// the weights, which ten bits can afford.
constexpr double max_copies = 1024.0;

bool are_copies(const double* weights, std::size_t count) {
    return std::all_of(weights, weights + count, [](double weight) {
        return weight <= max_copies && weight == std::floor(weight);
    });
}

struct Ones {
    double operator[](std::size_t) const { return 1.0; }
};

struct Totals {
    double magnitude = 0.0;
    bool has_negative = false;
};

template <typename Weights>
Totals totals_of(const double* values, Weights weights, std::size_t count) {
    std::array<double, 8> lanes{};  // independent sums, which a processor adds to at the same time
    std::array<bool, 8> negative{};
    const auto add = [&](std::size_t lane, std::size_t i) {
        const double product = values[i] * weights[i];
        lanes[lane] += std::fabs(product);
        negative[lane] |= product < 0.0;
    };
    std::size_t i = 0;
    for (; i + lanes.size() <= count; i += lanes.size()) {
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) add(lane, i + lane);
    }
    for (; i < count; ++i) add(0, i);
    Totals totals;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        totals.magnitude += lanes[lane];
        totals.has_negative |= negative[lane];
    }
    return totals;
}

/// Multiplies by a power of two. In two steps: the power itself may be beyond the range of doubles
/// where the products are not.
class PowerOfTwo {
  public:
    explicit PowerOfTwo(int exponent)
        : first_(std::ldexp(1.0, exponent / 2)),
          second_(std::ldexp(1.0, exponent - exponent / 2)) {}
    double times(double value) const { return value * first_ * second_; }

  private:
    double first_;
    double second_;
};

/// Nearest whole number, of two the even one, for a magnitude of up to 2^52.
double nearest_whole(double value) {
    constexpr double two_to_52 = 4503599627370496.0;  // from there on, all doubles are whole
    const double shift = std::copysign(two_to_52, value);
    return (value + shift) - shift;
}

template <typename Weights, typename Copies>
void round_products(const double* values, Weights weights, Copies copies, std::size_t count,
                    int exponent, bool has_negative, double* rounded) {
    const PowerOfTwo down(-exponent);
    const PowerOfTwo up(exponent);
    const double min_positive = has_negative ? 0.0 : 1.0;
    for (std::size_t i = 0; i < count; ++i) {
        // A row without copies may have any value, also one that overflows here.
        const double product = copies[i] > 0.0 ? values[i] * weights[i] : 0.0;
        const double multiple = nearest_whole(down.times(product));
        const double kept = product > 0.0 ? std::max(multiple, min_positive) : multiple;
        rounded[i] = up.times(kept * copies[i]);
    }
}

}  // namespace

double exactly_summable(const double* values, const double* weights, std::size_t count,
                        double* rounded) {
    const Totals totals =
        weights == nullptr ? totals_of(values, Ones{}, count) : totals_of(values, weights, count);
    if (!std::isfinite(totals.magnitude)) return totals.magnitude;
    int exponent = 0;
    std::frexp(totals.magnitude, &exponent);
    exponent -= 52;
    if (totals.magnitude == 0.0) {
        std::fill_n(rounded, count, 0.0);
    } else if (weights == nullptr) {
        round_products(values, Ones{}, Ones{}, count, exponent, totals.has_negative, rounded);
    } else if (are_copies(weights, count)) {
        round_products(values, Ones{}, weights, count, exponent, totals.has_negative, rounded);
    } else {
        round_products(values, weights, Ones{}, count, exponent, totals.has_negative, rounded);
    }
    return totals.magnitude;
}

double sum_covered(const std::uint8_t* covered, const double* values, std::size_t count) {
    // In turns, so that an addition need not wait for the one before it.
    constexpr std::size_t n_turns = 8;
    double sums[n_turns] = {};
    std::size_t i = 0;
    for (; i + n_turns <= count; i += n_turns) {
        for (std::size_t turn = 0; turn < n_turns; ++turn)
            sums[turn] += covered[i + turn] != 0 ? values[i + turn] : 0.0;
    }
    for (; i < count; ++i) sums[0] += covered[i] != 0 ? values[i] : 0.0;
    double sum = 0.0;
    for (const double part : sums) sum += part;
    return sum;
}

}  // namespace rulesearch

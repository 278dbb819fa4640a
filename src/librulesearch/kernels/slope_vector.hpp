// A number per slope of a proof's grid, handled together.
#pragma once

#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/kernels/simd.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {
namespace {

/// One number per slope.
struct Lanes {
    static constexpr std::size_t n_vectors = n_slopes / width;
    Vector v[n_vectors];

    static Lanes all(double x) {
        Lanes lanes;
        for (Vector& part : lanes.v) part = splat(x);
        return lanes;
    }
    static Lanes from(const double* numbers) {
        Lanes lanes;
        for (std::size_t i = 0; i < n_vectors; ++i) lanes.v[i] = load(numbers + i * width);
        return lanes;
    }
    void to(double* numbers) const {
        for (std::size_t i = 0; i < n_vectors; ++i) store(numbers + i * width, v[i]);
    }
    Lanes& operator+=(const Lanes& other) {
        for (std::size_t i = 0; i < n_vectors; ++i) v[i] += other.v[i];
        return *this;
    }
    Lanes& operator-=(const Lanes& other) {
        for (std::size_t i = 0; i < n_vectors; ++i) v[i] -= other.v[i];
        return *this;
    }
    bool has_positive() const {
        unsigned bits = 0;
        for (const Vector& part : v) bits |= bits_of(part > splat(0.0));
        return bits != 0;
    }
};

inline Lanes smaller(const Lanes& a, const Lanes& b) {
    Lanes lanes;
    for (std::size_t i = 0; i < Lanes::n_vectors; ++i) lanes.v[i] = smaller(a.v[i], b.v[i]);
    return lanes;
}
inline Lanes negative(const Lanes& a) {
    Lanes lanes;
    for (std::size_t i = 0; i < Lanes::n_vectors; ++i) lanes.v[i] = splat(0.0) - a.v[i];
    return lanes;
}
inline Lanes positive_part(const Lanes& a) {
    Lanes lanes;
    for (std::size_t i = 0; i < Lanes::n_vectors; ++i) lanes.v[i] = larger(a.v[i], splat(0.0));
    return lanes;
}
/// a - b * c.
inline Lanes reduced(double a, const Lanes& b, double c) {
    Lanes lanes;
    for (std::size_t i = 0; i < Lanes::n_vectors; ++i) lanes.v[i] = splat(a) - b.v[i] * splat(c);
    return lanes;
}

}  // namespace
}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

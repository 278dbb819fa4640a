// A number per slope of a proof's grid, handled together.
#pragma once

#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/kernels/simd.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {
namespace {

/// One number per slope.
struct SlopeVector {
    static constexpr std::size_t n_vectors = n_slopes / width;
    Vector v[n_vectors];

    static SlopeVector all(double x) {
        SlopeVector lanes;
        for (Vector& part : lanes.v) part = splat(x);
        return lanes;
    }
    static SlopeVector from(const double* numbers) {
        SlopeVector lanes;
        for (std::size_t i = 0; i < n_vectors; ++i) lanes.v[i] = load(numbers + i * width);
        return lanes;
    }
    void to(double* numbers) const {
        for (std::size_t i = 0; i < n_vectors; ++i) store(numbers + i * width, v[i]);
    }
    SlopeVector& operator+=(const SlopeVector& other) {
        for (std::size_t i = 0; i < n_vectors; ++i) v[i] += other.v[i];
        return *this;
    }
    SlopeVector& operator-=(const SlopeVector& other) {
        for (std::size_t i = 0; i < n_vectors; ++i) v[i] -= other.v[i];
        return *this;
    }
    bool has_positive() const {
        unsigned bits = 0;
        for (const Vector& part : v) bits |= bits_of(part > splat(0.0));
        return bits != 0;
    }
};

inline SlopeVector smaller(const SlopeVector& a, const SlopeVector& b) {
    SlopeVector lanes;
    for (std::size_t i = 0; i < SlopeVector::n_vectors; ++i) lanes.v[i] = smaller(a.v[i], b.v[i]);
    return lanes;
}
inline SlopeVector negative(const SlopeVector& a) {
    SlopeVector lanes;
    for (std::size_t i = 0; i < SlopeVector::n_vectors; ++i) lanes.v[i] = splat(0.0) - a.v[i];
    return lanes;
}
inline SlopeVector positive_part(const SlopeVector& a) {
    SlopeVector lanes;
    for (std::size_t i = 0; i < SlopeVector::n_vectors; ++i)
        lanes.v[i] = larger(a.v[i], splat(0.0));
    return lanes;
}
/// a - b * c.
inline SlopeVector reduced(double a, const SlopeVector& b, double c) {
    SlopeVector lanes;
    for (std::size_t i = 0; i < SlopeVector::n_vectors; ++i)
        lanes.v[i] = splat(a) - b.v[i] * splat(c);
    return lanes;
}

}  // namespace
}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

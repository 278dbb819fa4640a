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
        SlopeVector vector;
        for (Vector& part : vector.v) part = splat(x);
        return vector;
    }
    static SlopeVector from(const double* numbers) {
        SlopeVector vector;
        for (std::size_t i = 0; i < n_vectors; ++i) vector.v[i] = load(numbers + i * width);
        return vector;
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
    SlopeVector vector;
    for (std::size_t i = 0; i < SlopeVector::n_vectors; ++i) vector.v[i] = smaller(a.v[i], b.v[i]);
    return vector;
}
inline SlopeVector negative(const SlopeVector& a) {
    SlopeVector vector;
    for (std::size_t i = 0; i < SlopeVector::n_vectors; ++i) vector.v[i] = splat(0.0) - a.v[i];
    return vector;
}
inline SlopeVector positive_part(const SlopeVector& a) {
    SlopeVector vector;
    for (std::size_t i = 0; i < SlopeVector::n_vectors; ++i)
        vector.v[i] = larger(a.v[i], splat(0.0));
    return vector;
}
/// a - b * c.
inline SlopeVector reduced(double a, const SlopeVector& b, double c) {
    SlopeVector vector;
    for (std::size_t i = 0; i < SlopeVector::n_vectors; ++i)
        vector.v[i] = splat(a) - b.v[i] * splat(c);
    return vector;
}

}  // namespace
}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

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

    /// `part(i)` is vector i.
    template <typename Part>
    static SlopeVector make(Part&& part) {
        SlopeVector vector;
        for (std::size_t i = 0; i < n_vectors; ++i) vector.v[i] = part(i);
        return vector;
    }
    static SlopeVector all(double x) {
        return make([&](std::size_t) { return splat(x); });
    }
    static SlopeVector from(const double* numbers) {
        return make([&](std::size_t i) { return load(numbers + i * width); });
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
    return SlopeVector::make([&](std::size_t i) { return smaller(a.v[i], b.v[i]); });
}
inline SlopeVector negative(const SlopeVector& a) {
    return SlopeVector::make([&](std::size_t i) { return splat(0.0) - a.v[i]; });
}
inline SlopeVector positive_part(const SlopeVector& a) {
    return SlopeVector::make([&](std::size_t i) { return larger(a.v[i], splat(0.0)); });
}
/// a - b * c.
inline SlopeVector reduced(double a, const SlopeVector& b, double c) {
    return SlopeVector::make([&](std::size_t i) { return splat(a) - b.v[i] * splat(c); });
}

}  // namespace
}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

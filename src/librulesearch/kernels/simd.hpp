// A vector of doubles, as wide as the instruction set this file is compiled for.
//
// What is built on it is compiled once per instruction set, in a namespace of its own, and linked
// into one library. So everything here and there has internal linkage and stays away from templates
// of the standard library: a copy that the linker shared could hold instructions that an older
// processor does not have.
#pragma once

#include <cstddef>
#include <cstdint>

#include "librulesearch/problem/bits.hpp"

#ifndef RULESEARCH_INSTRUCTION_SET
#error "RULESEARCH_INSTRUCTION_SET must name the namespace to compile for."
#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define RULESEARCH_VECTOR_WIDTH 8
#elif defined(__AVX2__)
#include <immintrin.h>
#define RULESEARCH_VECTOR_WIDTH 4
#elif defined(__aarch64__) && defined(__GNUC__)
#define RULESEARCH_VECTOR_WIDTH 2
#else
#define RULESEARCH_VECTOR_WIDTH 1
#endif

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {
namespace {

constexpr std::size_t width = RULESEARCH_VECTOR_WIDTH;

#if RULESEARCH_VECTOR_WIDTH == 1

using Vector = double;
using WordVector = Word;
using Mask = bool;

inline Vector splat(double x) { return x; }
inline WordVector splat(Word x) { return x; }
inline Vector load(const double* from) { return *from; }
inline WordVector load(const Word* from) { return *from; }
inline void store(double* to, Vector x) { *to = x; }
inline void store(Word* to, WordVector x) { *to = x; }
inline Vector select(Mask mask, Vector a, Vector b) { return mask ? a : b; }
inline Mask is_zero(WordVector x) { return x == 0; }
inline unsigned bits_of(Mask mask) { return mask; }
/// The lanes whose bits are set, of `width` bits from the given one on.
inline Mask mask_of(WordVector bits, std::size_t first) { return (bits >> first) & 1; }

#else

typedef double Vector __attribute__((vector_size(8 * RULESEARCH_VECTOR_WIDTH)));
typedef Word WordVector __attribute__((vector_size(8 * RULESEARCH_VECTOR_WIDTH)));
typedef std::int64_t Mask __attribute__((vector_size(8 * RULESEARCH_VECTOR_WIDTH)));

inline Vector splat(double x) { return x - Vector{}; }
inline WordVector splat(Word x) { return x + WordVector{}; }
template <typename To, typename Element>
inline To load_as(const Element* from) {
    To x;
    __builtin_memcpy(&x, from, sizeof x);
    return x;
}
inline Vector load(const double* from) { return load_as<Vector>(from); }
inline WordVector load(const Word* from) { return load_as<WordVector>(from); }
inline void store(double* to, Vector x) { __builtin_memcpy(to, &x, sizeof x); }
inline void store(Word* to, WordVector x) { __builtin_memcpy(to, &x, sizeof x); }
inline Vector select(Mask mask, Vector a, Vector b) { return mask ? a : b; }
inline Mask is_zero(WordVector x) { return x == WordVector{}; }

inline WordVector lane_bits() {
#if RULESEARCH_VECTOR_WIDTH == 8
    return WordVector{1, 2, 4, 8, 16, 32, 64, 128};
#elif RULESEARCH_VECTOR_WIDTH == 4
    return WordVector{1, 2, 4, 8};
#else
    return WordVector{1, 2};
#endif
}
inline Mask mask_of(WordVector bits, std::size_t first) {
    return (bits & (lane_bits() << splat(Word{first}))) != WordVector{};
}

inline unsigned bits_of(Mask mask) {
#if RULESEARCH_VECTOR_WIDTH == 8
    return static_cast<unsigned>(_mm512_movepi64_mask(reinterpret_cast<__m512i>(mask)));
#elif RULESEARCH_VECTOR_WIDTH == 4
    return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)));
#else
    return static_cast<unsigned>(mask[0] & 1) | static_cast<unsigned>(mask[1] & 2);
#endif
}

#endif

inline Vector smaller(Vector a, Vector b) { return select(a < b, a, b); }
inline Vector larger(Vector a, Vector b) { return select(a > b, a, b); }
inline bool any(Mask mask) { return bits_of(mask) != 0; }
inline Vector zero_unless(Mask mask, Vector x) { return select(mask, x, splat(0.0)); }

inline double sum_of(Vector x) {
    double lanes[width], sum = 0.0;
    store(lanes, x);
    for (std::size_t i = 0; i < width; ++i) sum += lanes[i];
    return sum;
}
inline double largest_of(Vector x) {
    double lanes[width], largest;
    store(lanes, x);
    largest = lanes[0];
    for (std::size_t i = 1; i < width; ++i) largest = lanes[i] > largest ? lanes[i] : largest;
    return largest;
}

inline unsigned lowest_bit(Word bits) {
#ifdef __GNUC__
    return static_cast<unsigned>(__builtin_ctzll(bits));
#else
    unsigned i = 0;
    while (((bits >> i) & 1) == 0) ++i;
    return i;
#endif
}
/// Exchanges the upper right and lower left quarters of all squares of 2 x `step` bits.
template <std::size_t step>
inline void transpose_squares(Word* block, Word mask) {
    constexpr std::size_t n = step < width ? 1 : width;  // rows at a time
    for (std::size_t begin = 0; begin < word_bits; begin += 2 * step) {
        for (std::size_t i = begin; i < begin + step; i += n) {
            if constexpr (n == 1) {
                const Word swapped = ((block[i] >> step) ^ block[i + step]) & mask;
                block[i] ^= swapped << step;
                block[i + step] ^= swapped;
            } else {
                const WordVector upper = load(block + i), lower = load(block + i + step);
                const WordVector swapped = ((upper >> step) ^ lower) & splat(mask);
                store(block + i, upper ^ (swapped << step));
                store(block + i + step, lower ^ swapped);
            }
        }
    }
}

/// Turns 64 rows of 64 bits into columns: bit i of word j becomes bit j of word i.
inline void transpose(Word* block) {
    transpose_squares<32>(block, 0x00000000ffffffffULL);
    transpose_squares<16>(block, 0x0000ffff0000ffffULL);
    transpose_squares<8>(block, 0x00ff00ff00ff00ffULL);
    transpose_squares<4>(block, 0x0f0f0f0f0f0f0f0fULL);
    transpose_squares<2>(block, 0x3333333333333333ULL);
    transpose_squares<1>(block, 0x5555555555555555ULL);
}

inline int count_bits(Word word) {
#ifdef __GNUC__
    return __builtin_popcountll(word);
#else
    int count = 0;
    for (; word != 0; word &= word - 1) ++count;
    return count;
#endif
}

}  // namespace
}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

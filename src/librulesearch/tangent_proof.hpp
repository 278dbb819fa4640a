// A cheap proof that no refinement of a query is worth more than a given value.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "librulesearch/bits.hpp"

namespace rulesearch {

/// Candidates that contain a row, as bits of a fixed number of words.
template <std::size_t n_key_words>
using Key = std::array<Word, n_key_words>;

template <std::size_t n_key_words>
bool are_equal(const Key<n_key_words>& a, const Key<n_key_words>& b) {
    for (std::size_t w = 0; w < n_key_words; ++w) {
        if (a[w] != b[w]) return false;
    }
    return true;
}

template <std::size_t n_key_words>
bool are_disjoint(const Key<n_key_words>& a, const Key<n_key_words>& b) {
    for (std::size_t w = 0; w < n_key_words; ++w) {
        if ((a[w] & b[w]) != 0) return false;
    }
    return true;
}

template <std::size_t n_key_words>
bool is_subset(const Key<n_key_words>& a, const Key<n_key_words>& b) {
    for (std::size_t w = 0; w < n_key_words; ++w) {
        if ((a[w] & ~b[w]) != 0) return false;
    }
    return true;
}

/// A row class as a proof sees it.
template <std::size_t n_key_words>
struct KeyedRow {
    double gradient;
    double hessian;
    Key<n_key_words> key;
};

/// Rows that every refinement contains.
struct ForcedRows {
    double gradient = 0.0;
    double hessian = 0.0;
};

/// Tries to prove that no reachable union of rows, together with the forced ones, is worth more
/// than a value v. "Reachable" are the sets {row: T is a subset of its key}.
///
/// Tangents. G^2/H is the largest of 2 rho G - rho^2 H over all slopes rho, and attained at
/// rho = G/H. So if a union is worth more than v, then rho * psi(rho) > v at its own rho, where psi
/// is the largest 2G - rho H of any union. At a fixed slope each row has a price w = 2g - rho h,
/// and without knowing which unions are reachable psi is at most the sum of the positive prices.
///
/// Chords. psi is the largest of finitely many lines, hence convex: between two slopes it lies
/// below the chord through upper bounds at both. So it is enough to look at a grid of slopes.
///
/// Closure. If T covers row p and key(p) is inside key(n), then T covers n as well. So a positive
/// price of p may be set off against a negative one of n; psi falls by what is set off.
///
/// Intersection. If T covers p and q, it is inside key(p) & key(q), and if that is inside key(n), T
/// covers n: as 0/1 indicators, n >= p + q - 1. So an equal share of two positive prices may be set
/// off against a negative one; psi falls by that share.
template <std::size_t n_key_words>
class TangentProof {
  public:
    using Row = KeyedRow<n_key_words>;

    /// Never true unless it holds; `rows` must have different keys.
    bool holds(std::span<const Row> rows, const ForcedRows& forced, double l2_regularization,
               double value);

  private:
    static constexpr std::size_t n_slopes = 8;
    using Lanes = std::array<double, n_slopes>;

    /// What is left of a row's prices, positive or negative, at each slope.
    struct Priced {
        Lanes left;
        Key<n_key_words> key;
    };

    bool holds_for_sign(std::span<const Row> rows, double sign, const ForcedRows& forced,
                        double l2_regularization, double value);
    void lay_grid(double low, double high);
    void add_prices(std::span<const Row> rows, double sign);
    bool is_below(const Lanes& psi, double value, std::size_t* first = nullptr,
                  std::size_t* last = nullptr) const;
    void collect_prices(std::span<const Row> rows, double sign);
    bool holds_by_closure(double value);
    bool holds_by_intersection(double value);
    bool is_hopeless(double share, double value) const;
    void set_off_pairs(Priced& holder);

    Lanes slopes_;
    Lanes psi_;
    std::vector<Priced> takers_, holders_;
    std::vector<Key<n_key_words>> missing_;  // by taker: its columns that a holder is not in,
    std::vector<int> distance_;              // and how many they are
};

extern template class TangentProof<1>;
extern template class TangentProof<2>;
extern template class TangentProof<4>;
extern template class TangentProof<8>;

}  // namespace rulesearch

// What single sets of rows are worth.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/problem/problem.hpp"

namespace rulesearch::tables {

/// Computes what sets are worth from rows whose numbers are side by side, where these take little
/// memory.
class SetSums {
  public:
    SetSums(const Problem& problem, const Kernels& kernels) : problem_(problem), kernels_(kernels) {
        const std::size_t n_components = problem.refitted.n_components;
        const std::size_t n = n_statistics + n_components, n_rows = problem.rows.size();
        stride_ = (n + vector_block - 1) / vector_block * vector_block;
        if (n_components == 0 || stride_ > max_vector || n_rows * stride_ > max_numbers) return;
        vectors_.resize(n_rows * stride_, 0.0);
        for (std::size_t row = 0; row < n_rows; ++row) {
            const Statistics& sums = problem.rows[row];
            double* vector = vectors_.data() + row * stride_;
            vector[0] = sums.gradient;
            vector[1] = sums.hessian;
            vector[2] = sums.coverage;
            for (std::size_t k = 0; k < n_components; ++k)
                vector[n_statistics + k] = problem.refitted.component(k)[row];
        }
    }

    Problem::Worth worth(const BitSet& set) const {
        if (vectors_.empty()) return problem_.worth(set);
        std::array<double, max_vector> sums;
        kernels_.sum_vectors(set.words().data(), set.words().size(), vectors_.data(), stride_,
                             sums.data());
        return problem_.worth(set, {sums[0], sums[1], sums[2]}, sums.data() + n_statistics);
    }

    /// What it takes, in about nanoseconds.
    double cost() const {
        const auto n_rows = static_cast<double>(problem_.rows.size());
        const auto n_components = static_cast<double>(problem_.refitted.n_components);
        return vectors_.empty() ? n_rows * (n_components + 3.0) / 2.0
                                : 128.0 + n_rows * static_cast<double>(stride_) / 32.0;
    }

  private:
    static constexpr std::size_t n_statistics = 3, max_numbers = std::size_t{1} << 20;

    const Problem& problem_;
    const Kernels& kernels_;
    std::size_t stride_ = 0;
    std::vector<double> vectors_;
};

}  // namespace rulesearch::tables

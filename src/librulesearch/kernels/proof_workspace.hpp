// The memory that proofs work in.
#pragma once

#include <cstddef>
#include <vector>

#include "librulesearch/kernels/kernels.hpp"

namespace rulesearch {

/// Grows with the largest proof so far, and serves one at a time.
class ProofWorkspace {
  public:
    /// With more rows, pairs of them would take too much time and memory: such proofs do without.
    static constexpr std::size_t max_paired_rows = 1 << 15;

    /// Buffers for a proof about the given rows; none if it does without.
    ProofBuffers buffers(const RowsView& rows) {
        if (rows.size > max_paired_rows) return {};
        const std::size_t set_size = n_words(rows.size) + chunk_words;
        for (auto* numbers : {&gaining_left_, &costing_left_}) grow(*numbers, rows.size * n_slopes);
        grow(columns_, set_size * rows.n_planes * word_bits);
        for (auto* set : {&gaining_set_, &costing_set_}) grow(*set, set_size);
        grow(near_gaining_, n_distances * set_size);
        grow(tight_keys_, rows.size * rows.n_planes);
        grow(frontier_, rows.n_planes);
        return {gaining_left_.data(), costing_left_.data(), columns_.data(),    gaining_set_.data(),
                costing_set_.data(),  near_gaining_.data(), tight_keys_.data(), frontier_.data()};
    }

  private:
    template <typename Value>
    static void grow(std::vector<Value>& values, std::size_t size) {
        if (values.size() < size) values.resize(size);
    }

    std::vector<double> gaining_left_, costing_left_;
    std::vector<Word> columns_, gaining_set_, costing_set_, near_gaining_, tight_keys_, frontier_;
};

}  // namespace rulesearch

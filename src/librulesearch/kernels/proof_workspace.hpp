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
    static constexpr std::size_t most_paired_rows = 1 << 15;

    /// Buffers for a proof about the given rows; none if it does without.
    ProofBuffers buffers(const RowsView& rows) {
        if (rows.size > most_paired_rows) return {};
        const std::size_t set_size = n_words(rows.size) + chunk_words;
        for (auto* numbers : {&takers_, &holders_}) grow(*numbers, rows.size * n_slopes);
        grow(columns_, set_size * rows.n_planes * word_bits);
        for (auto* set : {&taker_set_, &holder_set_}) grow(*set, set_size);
        grow(near_takers_, n_distances * set_size);
        grow(tight_keys_, rows.size * rows.n_planes);
        grow(frontier_, rows.n_planes);
        return {takers_.data(),     holders_.data(),     columns_.data(),    taker_set_.data(),
                holder_set_.data(), near_takers_.data(), tight_keys_.data(), frontier_.data()};
    }

  private:
    template <typename Value>
    static void grow(std::vector<Value>& values, std::size_t size) {
        if (values.size() < size) values.resize(size);
    }

    std::vector<double> takers_, holders_;
    std::vector<Word> columns_, taker_set_, holder_set_, near_takers_, tight_keys_, frontier_;
};

}  // namespace rulesearch

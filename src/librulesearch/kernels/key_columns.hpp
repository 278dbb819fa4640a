// The keys of a proof's rows by column, to find rows by the columns they lie in.
#pragma once

#include <cstring>

#include "librulesearch/kernels/kernels.hpp"
#include "librulesearch/kernels/simd.hpp"

namespace rulesearch::RULESEARCH_INSTRUCTION_SET {
namespace {

/// The keys by column, for both signs. In chunks of one vector of words.
class KeyColumns {
  public:
    KeyColumns(const RowsView& rows, const ChainsView& chains, const ProofBuffers& buffers)
        : rows_(rows), chains_(chains), buffers_(buffers) {}

    /// Has to be called before the others; only the first call takes time.
    void make() {
        if (is_made_) return;
        is_made_ = true;
        for (std::size_t b = 0; b < n_chunks() * width; ++b) make_block(b);
    }

    bool has_chains() const { return chains_.below != nullptr; }
    std::size_t n_chunks() const { return (rows_.size + chunk_size - 1) / chunk_size; }
    /// The rows of a chunk that lie in each column.
    const Word* of_chunk(std::size_t chunk) const { return data(chunk); }
    /// Of the rows' tight keys, which have the smallest column of each chain only: a row is in all
    /// columns of a key if it is in those of the tight key.
    const Word* tight_plane(std::size_t p) const {
        return has_chains() ? buffers_.tight_keys + p * rows_.size : rows_.plane(p);
    }

    static constexpr std::size_t chunk_size = width * word_bits;

  private:
    Word* data(std::size_t chunk) const {
        return buffers_.columns + chunk * rows_.n_planes * word_bits * width;
    }

    void make_block(std::size_t b) {
        const std::size_t begin = b * word_bits < rows_.size ? b * word_bits : rows_.size;
        const std::size_t left = rows_.size - begin, n = left < word_bits ? left : word_bits;
        Word* columns = data(b / width) + b % width;
        for (std::size_t p = 0; p < rows_.n_planes; ++p) {
            Word block[word_bits] = {};
            if (n > 0) {
                std::memcpy(block, rows_.plane(p) + begin, n * sizeof(Word));
                transpose(block);
            }
            for (std::size_t j = 0; j < word_bits; ++j)
                columns[(p * word_bits + j) * width] = block[j];
        }
        if (n == 0 || !has_chains()) return;
        for (std::size_t p = 0; p < rows_.n_planes; ++p) {
            Word block[word_bits];
            for (std::size_t j = 0; j < word_bits; ++j) {
                const std::size_t column = p * word_bits + j;
                const std::int32_t below = chains_.below[column] - chains_.first;
                block[j] = columns[column * width];
                if (below >= 0) block[j] &= ~columns[static_cast<std::size_t>(below) * width];
            }
            transpose(block);
            std::memcpy(buffers_.tight_keys + p * rows_.size + begin, block, n * sizeof(Word));
        }
    }

    const RowsView& rows_;
    const ChainsView& chains_;
    const ProofBuffers& buffers_;
    bool is_made_ = false;
};

}  // namespace
}  // namespace rulesearch::RULESEARCH_INSTRUCTION_SET

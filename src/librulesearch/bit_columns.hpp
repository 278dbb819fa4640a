// The rows of a node as sets, one for each column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "librulesearch/kernels.hpp"
#include "librulesearch/keyed_rows.hpp"

namespace rulesearch {

/// Keys of rows, transposed when first asked for.
class BitColumns {
  public:
    explicit BitColumns(const Kernels& kernels) : kernels_(kernels) {}

    /// Sets: the rows, which must stay as they are.
    void assign(const KeyedRows& rows) {
        rows_ = &rows;
        is_transposed_ = false;
    }

    /// Whether two positions have the same rows. O(rows / 64).
    bool are_equal(std::size_t a, std::size_t b) {
        transpose();
        const Word* column = words_.data() + a * n_blocks();
        return std::equal(column, column + n_blocks(), words_.data() + b * n_blocks());
    }

    /// Sets: the keys of `to`, which has those rows, for a choice of positions in a new order.
    template <typename Position>
    void write_keys(std::size_t n_positions, const Position& position, KeyedRows& to) {
        transpose();
        for (std::size_t p = 0; p < to.n_planes(); ++p) {
            const std::size_t n = std::min(word_bits, n_positions - p * word_bits);
            for (std::size_t b = 0; b < n_blocks(); ++b) {
                Word block[word_bits] = {};
                for (std::size_t j = 0; j < n; ++j)
                    block[j] = words_[position(p * word_bits + j) * n_blocks() + b];
                kernels_.transpose(block);
                std::copy_n(block, block_size(b), to.plane(p) + b * word_bits);
            }
        }
    }

  private:
    std::size_t n_blocks() const { return n_words(rows_->size()); }
    std::size_t block_size(std::size_t b) const {
        return std::min(word_bits, rows_->size() - b * word_bits);
    }

    void transpose() {
        if (std::exchange(is_transposed_, true)) return;
        words_.resize(rows_->n_planes() * word_bits * n_blocks());
        for (std::size_t p = 0; p < rows_->n_planes(); ++p) {
            for (std::size_t b = 0; b < n_blocks(); ++b) {
                Word block[word_bits] = {};
                std::copy_n(rows_->plane(p) + b * word_bits, block_size(b), block);
                kernels_.transpose(block);
                for (std::size_t j = 0; j < word_bits; ++j)
                    words_[(p * word_bits + j) * n_blocks() + b] = block[j];
            }
        }
    }

    const Kernels& kernels_;
    const KeyedRows* rows_ = nullptr;
    bool is_transposed_ = false;
    std::vector<Word> words_;  // by position: bits over rows
};

}  // namespace rulesearch

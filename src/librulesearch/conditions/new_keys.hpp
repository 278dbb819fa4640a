// Keys of rows in another order of columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "librulesearch/conditions/keyed_rows.hpp"
#include "librulesearch/kernels/kernels.hpp"

namespace rulesearch::conditions {

/// Writes new keys; keeps its buffer from node to node.
class NewKeys {
  public:
    explicit NewKeys(const Kernels& kernels) : kernels_(kernels) {}

    /// Sets: the keys of `to`, which has the rows of `from` first: bit t is what bit `position(t)`
    /// was. O(rows * planes).
    template <typename Position>
    void write(const KeyedRows& from, std::size_t n_columns, const Position& position,
               KeyedRows& to) {
        columns_.resize(from.n_planes() * word_bits);
        for (std::size_t begin = 0; begin < from.size(); begin += word_bits) {
            const std::size_t n_rows = std::min(word_bits, from.size() - begin);
            for (std::size_t p = 0; p < from.n_planes(); ++p) {
                Word* block = columns_.data() + p * word_bits;
                std::copy_n(from.plane(p) + begin, n_rows, block);
                std::fill(block + n_rows, block + word_bits, 0);
                kernels_.transpose(block);
            }
            for (std::size_t p = 0; p < to.n_planes(); ++p) {
                Word block[word_bits] = {};
                const std::size_t n = std::min(word_bits, n_columns - p * word_bits);
                for (std::size_t j = 0; j < n; ++j)
                    block[j] = columns_[position(p * word_bits + j)];
                kernels_.transpose(block);
                std::copy_n(block, n_rows, to.plane(p) + begin);
            }
        }
    }

  private:
    const Kernels& kernels_;
    std::vector<Word> columns_;  // of 64 rows, by position
};

}  // namespace rulesearch::conditions

#include "librulesearch/propositions.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace rulesearch {
namespace {

/// For each row the set of propositions it satisfies, `stride` words a row.
std::vector<Word> row_signatures(const std::uint8_t* extents, std::size_t n_propositions,
                                 std::size_t n_rows) {
    const std::size_t stride = n_words(n_propositions);
    std::vector<Word> signatures(n_rows * stride, 0);
    constexpr std::size_t block = 256;  // rows whose signatures stay in the cache
    for (std::size_t begin = 0; begin < n_rows; begin += block) {
        const std::size_t end = std::min(begin + block, n_rows);
        for (std::size_t p = 0; p < n_propositions; ++p) {
            const std::uint8_t* extent = extents + p * n_rows;
            Word* word = signatures.data() + begin * stride + p / word_bits;
            for (std::size_t row = begin; row < end; ++row, word += stride) {
                *word |= Word{extent[row] != 0} << (p % word_bits);
            }
        }
    }
    return signatures;
}

}  // namespace

Propositions::Propositions(const std::uint8_t* extents, std::size_t n_propositions,
                           std::size_t n_rows)
    : n_propositions_(n_propositions), distinct_row_(n_rows) {
    const std::size_t stride = n_words(n_propositions);
    const std::vector<Word> signatures = row_signatures(extents, n_propositions, n_rows);
    const auto signature = [&](std::size_t row) { return signatures.data() + row * stride; };

    const auto hash = [&](std::size_t row) { return hash_words(signature(row), stride); };
    const auto equal = [&](std::size_t a, std::size_t b) {
        return std::equal(signature(a), signature(a) + stride, signature(b));
    };
    std::unordered_map<std::size_t, std::uint32_t, decltype(hash), decltype(equal)> number(
        2 * n_rows, hash, equal);
    std::vector<std::size_t> first_row;
    for (std::size_t row = 0; row < n_rows; ++row) {
        const auto [entry, is_new] =
            number.try_emplace(row, static_cast<std::uint32_t>(first_row.size()));
        if (is_new) first_row.push_back(row);
        distinct_row_[row] = entry->second;
    }
    n_distinct_rows_ = first_row.size();

    struct Hash {
        std::size_t operator()(const BitSet& set) const {
            return hash_words(set.words().data(), set.words().size());
        }
    };
    std::unordered_map<BitSet, std::size_t, Hash> known_extents;
    for (std::size_t p = 0; p < n_propositions; ++p) {
        BitSet extent(n_distinct_rows_);
        for (std::size_t i = 0; i < n_distinct_rows_; ++i) {
            if (extents[p * n_rows + first_row[i]] != 0) extent.insert(i);
        }
        const std::size_t size = extent.size();
        if (size == 0 || size == n_distinct_rows_) {
            column_index_.push_back(size == 0 ? never : always);
            continue;
        }
        const auto [entry, is_new] = known_extents.try_emplace(extent, columns_.size());
        column_index_.push_back(static_cast<std::ptrdiff_t>(entry->second));
        if (!is_new) continue;
        columns_.push_back(std::move(extent));
        proposition_index_.push_back(p);
    }

    signatures_.assign(n_distinct_rows_ * this->stride(), 0);
    for (std::size_t column = 0; column < n_columns(); ++column) {
        const Word bit = Word{1} << (column % word_bits);
        Word* word = signatures_.data() + column / word_bits;
        columns_[column].for_each([&](std::size_t row) { word[row * this->stride()] |= bit; });
    }
}

std::vector<bool> Propositions::covered(const std::vector<std::size_t>& query) const {
    BitSet extent(n_distinct_rows_, true);
    for (const std::size_t p : query) {
        const std::ptrdiff_t column = column_index_.at(p);
        if (column == never) extent = BitSet(n_distinct_rows_);
        if (column >= 0) extent &= columns_[static_cast<std::size_t>(column)];
    }
    std::vector<bool> rows(n_rows());
    for (std::size_t row = 0; row < n_rows(); ++row)
        rows[row] = extent.contains(distinct_row_[row]);
    return rows;
}

}  // namespace rulesearch

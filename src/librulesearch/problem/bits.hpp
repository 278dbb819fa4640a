// Sets of small integers as machine words.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rulesearch {

using Word = std::uint64_t;
inline constexpr std::size_t word_bits = 64;

constexpr std::size_t n_words(std::size_t n_bits) { return (n_bits + word_bits - 1) / word_bits; }

/// Sets that are rows of a table of words.
inline bool has_bit(const Word* words, std::size_t i) {
    return ((words[i / word_bits] >> (i % word_bits)) & 1) != 0;
}
inline void set_bit(std::vector<Word>& words, std::size_t i) {
    words[i / word_bits] |= Word{1} << (i % word_bits);
}
inline void clear_bit(std::vector<Word>& words, std::size_t i) {
    words[i / word_bits] &= ~(Word{1} << (i % word_bits));
}

/// Small sets are handled in blocks of words, so that loops over them have a fixed length.
inline constexpr std::size_t block_words = 4;

constexpr std::size_t padded(std::size_t words) {
    return (words + block_words - 1) / block_words * block_words;
}

/// Writes the intersection of two sets in whole blocks. Returns a word that is 0 if it is empty.
inline Word intersect(const Word* a, const Word* b, Word* __restrict out, std::size_t words) {
    Word any = 0;
    for (std::size_t w = 0; w < words; w += block_words) {
        for (std::size_t k = w; k < w + block_words; ++k) any |= out[k] = a[k] & b[k];
    }
    return any;
}

/// Calls `visit(position)` for each set bit of `word`, which holds the positions from `offset` on.
template <typename Visitor>
void for_each_bit(Word word, std::size_t offset, Visitor&& visit) {
    for (; word != 0; word &= word - 1) {
        visit(offset + static_cast<std::size_t>(std::countr_zero(word)));
    }
}

/// Eight truth values, any byte but 0 being true, as eight bits.
inline Word pack_eight(const std::uint8_t* bytes) {
    Word word = 0;
    for (std::size_t i = 0; i < 8; ++i) word |= Word{bytes[i]} << (8 * i);
    constexpr Word low_bits = 0x7f7f7f7f7f7f7f7fULL;
    // The highest bit of every byte that is not 0, moved to the lowest.
    const Word truths = ((((word & low_bits) + low_bits) | word) & ~low_bits) >> 7;
    // Multiplying moves bit 8i to bit 56 + i; no two of the products' bits meet.
    return (truths * 0x0102040810204080ULL) >> 56;
}

/// The set of positions with a true value.
inline std::vector<Word> pack_bits(const std::uint8_t* bytes, std::size_t count) {
    std::vector<Word> words(n_words(count), 0);
    const std::size_t n_eights = count / 8;
    for (std::size_t i = 0; i < n_eights; ++i) {
        words[i / 8] |= pack_eight(bytes + 8 * i) << (8 * (i % 8));
    }
    for (std::size_t i = 8 * n_eights; i < count; ++i) {
        words[i / word_bits] |= Word{bytes[i] != 0} << (i % word_bits);
    }
    return words;
}

/// A set of positions below a fixed size.
class BitSet {
  public:
    BitSet() = default;
    explicit BitSet(std::size_t n_bits, bool full = false)
        : words_(n_words(n_bits), full ? ~Word{0} : 0) {
        if (full && n_bits % word_bits != 0) words_.back() = (Word{1} << (n_bits % word_bits)) - 1;
    }
    /// The set that `words` spell; bits beyond the fixed size must be 0.
    explicit BitSet(std::vector<Word> words) : words_(std::move(words)) {}

    bool contains(std::size_t i) const { return has_bit(words_.data(), i); }
    void insert(std::size_t i) { set_bit(words_, i); }

    std::size_t size() const {
        std::size_t total = 0;
        for (const Word word : words_) total += static_cast<std::size_t>(std::popcount(word));
        return total;
    }
    bool empty() const {
        return std::all_of(words_.begin(), words_.end(), [](Word word) { return word == 0; });
    }
    bool is_subset_of(const BitSet& other) const {
        for (std::size_t w = 0; w < words_.size(); ++w) {
            if ((words_[w] & ~other.words_[w]) != 0) return false;
        }
        return true;
    }

    BitSet& operator&=(const BitSet& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
        return *this;
    }
    BitSet& operator-=(const BitSet& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
        return *this;
    }
    /// Keeps what is also in the set that `words` spell.
    void intersect(const Word* words) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= words[w];
    }
    auto operator<=>(const BitSet&) const = default;

    const std::vector<Word>& words() const { return words_; }

    template <typename Visitor>
    void for_each(Visitor&& visit) const {
        for (std::size_t w = 0; w < words_.size(); ++w)
            for_each_bit(words_[w], w * word_bits, visit);
    }

  private:
    std::vector<Word> words_;
};

/// Hash of a run of words: FNV-1a with a final mix.
inline std::size_t hash_words(const Word* words, std::size_t count) {
    Word hash = 0xcbf29ce484222325ULL;
    for (std::size_t w = 0; w < count; ++w) {
        hash = (hash ^ words[w]) * 0x100000001b3ULL;
        hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash * 0x9e3779b97f4a7c15ULL);
}

}  // namespace rulesearch

#include "librulesearch/problem/extents.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace rulesearch {
namespace {

// Conditions between two thresholds of a feature: those of the same thresholds the other way
// round, and some that another feature has, too.
constexpr std::size_t nearby = 16;

// Pairs of chains that are looked at, to put one on top of the other: those of some thousand
// features, of which it is not worth the time.
constexpr std::size_t max_comparisons = 4'000'000;

// Of a long table, equal rows are kept if they are fewer than one in so many.
constexpr std::size_t n_long_rows = 1 << 14, least_merged = 16;

using BitBlock = std::array<Word, word_bits>;

/// Transposes a square of bits: bit j of word i becomes bit i of word j.
void transpose(BitBlock& block) {
    Word low = ~Word{0} >> (word_bits / 2);
    for (std::size_t width = word_bits / 2; width != 0; width /= 2, low ^= low << width) {
        for (std::size_t i = 0; i < word_bits; i = ((i | width) + 1) & ~width) {
            const Word differing = ((block[i] >> width) ^ block[i | width]) & low;
            block[i] ^= differing << width;
            block[i | width] ^= differing;
        }
    }
}

/// Numbers signatures by first appearance: open addressing, a number per slot and nothing else.
class SignatureNumbers {
  public:
    /// Distinct signatures are appended to `signatures`, `stride` words each.
    SignatureNumbers(std::vector<Word>& signatures, std::size_t stride)
        : signatures_(signatures), stride_(stride), slots_(std::size_t{1} << log2_slots_, empty) {}

    std::size_t size() const { return size_; }

    std::uint32_t number(const Word* signature) {
        std::size_t slot = home(signature);
        for (; slots_[slot] != empty; slot = next(slot)) {
            const Word* known = signatures_.data() + slots_[slot] * stride_;
            if (std::equal(signature, signature + stride_, known)) return slots_[slot];
        }
        slots_[slot] = static_cast<std::uint32_t>(size_++);
        signatures_.insert(signatures_.end(), signature, signature + stride_);
        if (2 * size_ <= slots_.size()) return slots_[slot];
        grow();
        return static_cast<std::uint32_t>(size_ - 1);
    }

  private:
    static constexpr std::uint32_t empty = std::numeric_limits<std::uint32_t>::max();

    std::size_t home(const Word* signature) const {
        // The high bits, which depend on all bits of the signature.
        return hash_words(signature, stride_) >>
               (std::numeric_limits<std::size_t>::digits - log2_slots_);
    }
    std::size_t next(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

    void grow() {
        ++log2_slots_;
        slots_.assign(std::size_t{1} << log2_slots_, empty);
        for (std::size_t number = 0; number < size_; ++number) {
            std::size_t slot = home(signatures_.data() + number * stride_);
            while (slots_[slot] != empty) slot = next(slot);
            slots_[slot] = static_cast<std::uint32_t>(number);
        }
    }

    std::vector<Word>& signatures_;
    std::size_t stride_;
    std::size_t size_ = 0;
    int log2_slots_ = 8;
    std::vector<std::uint32_t> slots_;
};

}  // namespace

void ExtentsBuilder::add(const std::uint8_t* covered) {
    Words extent = pack_bits(covered, n_rows());
    std::vector<std::ptrdiff_t>& column_index = extents_.column_index_;
    if (std::all_of(extent.begin(), extent.end(), [](Word word) { return word == 0; })) {
        column_index.push_back(Extents::never);
        return;
    }
    if (BitSet(n_rows(), true).words() == extent) {
        column_index.push_back(Extents::always);
        return;
    }
    const std::size_t hash = hash_words(extent.data(), extent.size());
    const auto [first, last] = columns_by_hash_.equal_range(hash);
    const auto same = std::find_if(
        first, last, [&](const auto& entry) { return column_words_[entry.second] == extent; });
    if (same != last) {
        column_index.push_back(static_cast<std::ptrdiff_t>(same->second));
        return;
    }
    columns_by_hash_.emplace(hash, column_words_.size());
    extents_.condition_index_.push_back(column_index.size());
    column_index.push_back(static_cast<std::ptrdiff_t>(column_words_.size()));
    column_words_.push_back(std::move(extent));
}

Extents ExtentsBuilder::build() {
    find_distinct_rows();
    if (extents_.n_distinct_rows_ == n_rows()) {
        for (Words& extent : column_words_) extents_.columns_.emplace_back(std::move(extent));
    } else {
        const std::size_t n_columns = column_words_.size();
        column_words_ = std::vector<Words>();  // before the same is made for distinct rows
        extents_.signatures_.shrink_to_fit();
        extents_.columns_ = distinct_extents(n_columns);
    }
    find_chains();
    Extents result = std::move(extents_);
    *this = ExtentsBuilder(0);
    return result;
}

/// Calls `visit(row, signature)` for each row.
template <typename Visit>
void ExtentsBuilder::for_each_signature(Visit&& visit) const {
    const std::size_t stride = n_words(column_words_.size());
    std::vector<Word> block(word_bits * stride);  // signatures of as many rows as a word has bits
    BitBlock square;
    for (std::size_t begin = 0; begin < n_rows(); begin += word_bits) {
        for (std::size_t w = 0; w < stride; ++w) {
            const std::size_t n_columns = std::min(word_bits, column_words_.size() - w * word_bits);
            square.fill(0);
            for (std::size_t i = 0; i < n_columns; ++i) {
                square[i] = column_words_[w * word_bits + i][begin / word_bits];
            }
            transpose(square);
            for (std::size_t i = 0; i < word_bits; ++i) block[i * stride + w] = square[i];
        }
        const std::size_t end = std::min(begin + word_bits, n_rows());
        for (std::size_t row = begin; row < end; ++row)
            visit(row, block.data() + (row - begin) * stride);
    }
}

void ExtentsBuilder::find_distinct_rows() {
    const std::size_t stride = n_words(column_words_.size());
    // Enough for distinct rows only: what is not written to takes no memory.
    extents_.signatures_.reserve(n_rows() * stride);
    SignatureNumbers numbers(extents_.signatures_, stride);
    for_each_signature([&](std::size_t row, const Word* signature) {
        extents_.distinct_row_[row] = numbers.number(signature);
    });
    extents_.n_distinct_rows_ = numbers.size();
    if (n_rows() > n_long_rows && n_rows() - numbers.size() < n_rows() / least_merged)
        keep_all_rows();
}

/// Where rows are in the order of the caller, his arrays need no copies.
void ExtentsBuilder::keep_all_rows() {
    const std::size_t stride = n_words(column_words_.size());
    extents_.signatures_.resize(n_rows() * stride);
    for_each_signature([&](std::size_t row, const Word* signature) {
        std::copy_n(signature, stride, extents_.signatures_.data() + row * stride);
        extents_.distinct_row_[row] = static_cast<std::uint32_t>(row);
    });
    extents_.n_distinct_rows_ = n_rows();
}

/// From small to large, each column goes on top of a chain with a top inside it: the nearest one
/// within a few conditions, which is the previous threshold of the same feature. Then whole
/// chains go on top of others, where that is possible, unless there are thousands of them.
void ExtentsBuilder::find_chains() {
    const std::vector<BitSet>& columns = extents_.columns_;
    std::vector<std::size_t> sizes, order(columns.size());
    for (const BitSet& column : columns) sizes.push_back(column.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sizes[a] < sizes[b]; });
    const std::vector<std::size_t>& index = extents_.condition_index_;
    constexpr auto none = std::numeric_limits<std::size_t>::max();
    std::vector<std::vector<std::size_t>> runs;
    std::vector<std::size_t> run_of_top(columns.size(), none);
    for (const std::size_t column : order) {
        std::size_t best = none, min_distance = nearby + 1;
        const auto consider = [&](std::size_t top, std::size_t distance) {
            const std::size_t run = run_of_top[top];
            if (run == none || distance > min_distance) return;
            if (distance == min_distance && run > best) return;
            if (!columns[top].is_subset_of(columns[column])) return;
            best = run;
            min_distance = distance;
        };
        for (std::size_t top = column; top-- > 0 && index[column] - index[top] <= nearby;)
            consider(top, index[column] - index[top]);
        for (std::size_t top = column + 1;
             top < columns.size() && index[top] - index[column] <= nearby; ++top)
            consider(top, index[top] - index[column]);
        if (best == none) {
            best = runs.size();
            runs.emplace_back();
        } else {
            run_of_top[runs[best].back()] = none;
        }
        runs[best].push_back(column);
        run_of_top[column] = best;
    }
    // Runs come in ascending order of their smallest columns.
    extents_.links_.resize(columns.size());
    std::vector<std::size_t> tops;  // by chain
    std::size_t n_comparisons = 0;
    for (const std::vector<std::size_t>& run : runs) {
        std::size_t best = tops.size();
        n_comparisons += tops.size();
        for (std::size_t chain = 0; chain < tops.size() && n_comparisons < max_comparisons;
             ++chain) {
            const bool is_larger = best == tops.size() || sizes[tops[chain]] > sizes[tops[best]];
            if (is_larger && columns[tops[chain]].is_subset_of(columns[run.front()])) best = chain;
        }
        std::uint32_t level = best == tops.size() ? 0 : extents_.links_[tops[best]].level + 1;
        if (best == tops.size()) tops.emplace_back();
        for (const std::size_t column : run)
            extents_.links_[column] = {static_cast<std::uint32_t>(best), level++};
        tops[best] = run.back();
    }
    extents_.n_chains_ = tops.size();
}

std::vector<BitSet> ExtentsBuilder::distinct_extents(std::size_t n_columns) const {
    const std::size_t n_distinct_rows = extents_.n_distinct_rows_;
    const std::size_t stride = n_words(n_columns);
    std::vector<Words> extents(n_columns, Words(n_words(n_distinct_rows)));
    BitBlock square;
    for (std::size_t begin = 0; begin < n_distinct_rows; begin += word_bits) {
        const std::size_t n_block = std::min(word_bits, n_distinct_rows - begin);
        for (std::size_t w = 0; w < stride; ++w) {
            square.fill(0);
            for (std::size_t i = 0; i < n_block; ++i) {
                square[i] = extents_.signatures_[(begin + i) * stride + w];
            }
            transpose(square);
            const std::size_t n_in_word = std::min(word_bits, n_columns - w * word_bits);
            for (std::size_t i = 0; i < n_in_word; ++i) {
                extents[w * word_bits + i][begin / word_bits] = square[i];
            }
        }
    }
    return {std::make_move_iterator(extents.begin()), std::make_move_iterator(extents.end())};
}

std::vector<std::size_t> Extents::columns_of(const std::vector<std::size_t>& query) const {
    std::vector<std::size_t> columns;
    for (const std::size_t condition : query) {
        const std::ptrdiff_t column = column_index_.at(condition);
        if (column == never) throw std::out_of_range("a condition that covers no row");
        if (column != always) columns.push_back(static_cast<std::size_t>(column));
    }
    return columns;
}

void Extents::covered(const std::vector<std::size_t>& query, bool* rows) const {
    BitSet extent(n_distinct_rows_, true);
    for (const std::size_t p : query) {
        const std::ptrdiff_t column = column_index_.at(p);
        if (column == never) extent = BitSet(n_distinct_rows_);
        if (column >= 0) extent &= columns_[static_cast<std::size_t>(column)];
    }
    for (std::size_t row = 0; row < n_rows(); ++row) {
        rows[row] = extent.contains(distinct_row_[row]);
    }
}

}  // namespace rulesearch

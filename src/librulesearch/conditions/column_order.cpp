#include "librulesearch/conditions/column_order.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace rulesearch::conditions {
namespace {

// Shorter chains, on average, cost more than they save.
constexpr std::size_t min_chain_length = 4;

}  // namespace

std::size_t ColumnOrder::drop_equal_columns(const KeyedRows& rows) {
    const auto sums = [&](std::uint32_t t) {
        return std::tie(survivors_[t].sum_gradients, survivors_[t].sum_hessians);
    };
    by_sums_.resize(size());
    std::iota(by_sums_.begin(), by_sums_.end(), 0);
    std::sort(by_sums_.begin(), by_sums_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return sums(a) != sums(b) ? sums(a) < sums(b) : a < b;
    });
    equal_columns_.clear();
    for (std::size_t first = 0, i = 1; i < size(); ++i) {
        if (sums(by_sums_[first]) != sums(by_sums_[i])) first = i;
        const auto is_equal = [&](std::uint32_t t) {
            return rows.are_equal_columns(survivors_[t].position, survivors_[by_sums_[i]].position);
        };
        const auto begin = by_sums_.begin();
        if (std::any_of(begin + static_cast<std::ptrdiff_t>(first),
                        begin + static_cast<std::ptrdiff_t>(i), is_equal))
            equal_columns_.push_back(survivors_[by_sums_[i]].position);
    }
    if (equal_columns_.empty()) return 0;
    std::sort(equal_columns_.begin(), equal_columns_.end());
    return std::erase_if(survivors_, [&](const Survivor& survivor) {
        return std::binary_search(equal_columns_.begin(), equal_columns_.end(), survivor.position);
    });
}

void ColumnOrder::sort() {
    const std::size_t n_chains = make_bounds_monotone();
    std::stable_sort(survivors_.begin(), survivors_.end(),
                     [](const Survivor& a, const Survivor& b) { return a.bound < b.bound; });
    has_chains_ = size() >= min_chain_length * n_chains;
    if (has_chains_) link_chains();
}

/// A column is not worth more than those above it in its chain. Rounding must not hide that, as
/// chains have to be in order. Returns the number of chains.
std::size_t ColumnOrder::make_bounds_monotone() {
    const auto link = [&](const Survivor& survivor) { return extents_.link(survivor.column); };
    std::stable_sort(
        survivors_.begin(), survivors_.end(),
        [&](const Survivor& a, const Survivor& b) { return link(a).level < link(b).level; });
    chain_bounds_.assign(extents_.n_columns(), 0.0);
    std::size_t n_chains = 0;
    for (Survivor& survivor : survivors_) {
        double& bound = chain_bounds_[link(survivor).chain];
        n_chains += bound == 0.0;
        bound = survivor.bound = std::max(bound, survivor.bound);
    }
    return n_chains;
}

void ColumnOrder::link_chains() {
    below_.assign(n_words(size()) * word_bits, -1);
    tops_.assign(n_words(size()), ~Word{0});
    chain_tops_.assign(extents_.n_columns(), -1);
    for (std::size_t t = 0; t < size(); ++t) {
        std::int32_t& top = chain_tops_[extents_.link(survivors_[t].column).chain];
        below_[t] = top;
        if (top >= 0) clear_bit(tops_, static_cast<std::size_t>(top));
        top = static_cast<std::int32_t>(t);
    }
}

void ColumnOrder::write_keys(const KeyedRows& from, const Kernels& kernels, KeyedRows& to) {
    columns_.resize(from.n_planes() * word_bits);
    for (std::size_t begin = 0; begin < from.size(); begin += word_bits) {
        const std::size_t n_rows = std::min(word_bits, from.size() - begin);
        for (std::size_t p = 0; p < from.n_planes(); ++p) {
            Word* block = columns_.data() + p * word_bits;
            std::copy_n(from.plane(p) + begin, n_rows, block);
            std::fill(block + n_rows, block + word_bits, 0);
            kernels.transpose(block);
        }
        for (std::size_t p = 0; p < to.n_planes(); ++p) {
            Word block[word_bits] = {};
            const std::size_t n = std::min(word_bits, size() - p * word_bits);
            for (std::size_t j = 0; j < n; ++j)
                block[j] = columns_[survivors_[p * word_bits + j].position];
            kernels.transpose(block);
            std::copy_n(block, n_rows, to.plane(p) + begin);
        }
    }
}

ChainsView ColumnOrder::chains(std::size_t first_plane, const std::vector<Word>& candidates) const {
    if (!has_chains_) return {nullptr, candidates.data(), 0};
    const std::size_t first = first_plane * word_bits;
    return {below_.data() + first, tops_.data() + first_plane, static_cast<std::int32_t>(first)};
}

}  // namespace rulesearch::conditions

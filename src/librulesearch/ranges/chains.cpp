#include "librulesearch/ranges/chains.hpp"

namespace rulesearch::ranges {

Chains::Chains(const Extents& extents) : n_rows_(extents.n_distinct_rows()) {
    for (std::size_t column = 0; column < extents.n_columns(); ++column) {
        const Extents::Link& link = extents.link(column);
        if (link.chain >= columns_.size()) columns_.resize(link.chain + 1);
        std::vector<std::size_t>& chain = columns_[link.chain];
        if (link.level >= chain.size()) chain.resize(link.level + 1);
        chain[link.level] = column;
    }
    levels_.resize(n_rows_ * n_chains());
    for (std::size_t chain = 0; chain < n_chains(); ++chain) {
        for (std::size_t row = 0; row < n_rows_; ++row)
            levels_[row * n_chains() + chain] = top(chain);
        std::vector<Word> below(n_words(n_rows_), 0);
        for (Level level = 0; level < top(chain); ++level) {
            const std::vector<Word>& words = extents.extent(column(chain, level)).words();
            for (std::size_t w = 0; w < words.size(); ++w) {
                for_each_bit(words[w] & ~below[w], w * word_bits,
                             [&](std::size_t row) { levels_[row * n_chains() + chain] = level; });
            }
            below = words;
        }
    }
}

}  // namespace rulesearch::ranges

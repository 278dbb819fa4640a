#include "librulesearch/ranges/chains.hpp"

namespace rulesearch::ranges {

Sides::Sides(const Propositions& propositions) : n_rows_(propositions.n_distinct_rows()) {
    for (std::size_t column = 0; column < propositions.n_columns(); ++column) {
        const Propositions::Link& link = propositions.link(column);
        if (link.chain >= columns_.size()) columns_.resize(link.chain + 1);
        std::vector<std::size_t>& chain = columns_[link.chain];
        if (link.level >= chain.size()) chain.resize(link.level + 1);
        chain[link.level] = column;
    }
    levels_.resize(n_rows_ * n_sides());
    for (std::size_t side = 0; side < n_sides(); ++side) {
        for (std::size_t row = 0; row < n_rows_; ++row) levels_[row * n_sides() + side] = top(side);
        std::vector<Word> below(n_words(n_rows_), 0);
        for (Level level = 0; level < top(side); ++level) {
            const std::vector<Word>& words = propositions.extent(column(side, level)).words();
            for (std::size_t w = 0; w < words.size(); ++w) {
                for_each_bit(words[w] & ~below[w], w * word_bits,
                             [&](std::size_t row) { levels_[row * n_sides() + side] = level; });
            }
            below = words;
        }
    }
}

}  // namespace rulesearch::ranges

#include "librulesearch/conditions/suffix_rows.hpp"

namespace rulesearch::conditions {

bool SuffixRows::next_child(std::size_t t) {
    const std::size_t first = t / word_bits, n_planes = rows_.n_planes() - first;
    child_.take_child(rows_, t, selected_);
    // Rows that agree in the bits behind t differ in bit t: no two rows of the child are equal.
    const std::size_t n = child_.size();
    clear_bit(t);

    candidates_.assign(n_planes, 0);
    if (n == 0) return false;
    bool is_any = false, is_first_all = true, is_last_none = true;
    for (std::size_t p = 0; p < n_planes; ++p) {
        const auto [in_any, in_all] = child_.in_any_and_all(p);
        const Word* keys = child_.plane(p);
        candidates_[p] = in_any & ~in_all;
        is_any |= candidates_[p] != 0;
        is_first_all &= keys[0] == in_any;
        is_last_none &= keys[n - 1] == in_all;
    }
    if (!is_any) return false;
    // Keys go down: a row in all candidates comes first, one in none last.
    forced_ = {};
    if (is_first_all) forced_ = {child_.gradient(0), child_.hessian(0)};
    free_ = child_.view(is_first_all, n - is_last_none);
    return true;
}

/// Takes column t away and merges rows that have become equal.
void SuffixRows::clear_bit(std::size_t t) {
    const std::size_t first = t / word_bits;
    const Word bit = Word{1} << (t % word_bits);
    Word* plane = rows_.plane(first);
    selected_.clear();
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        plane[i] &= ~bit;
        if (i > 0 && plane[i] == plane[i - 1] && rows_.are_equal(i - 1, i, first + 1)) {
            rows_.add(n_kept - 1, rows_.sums(i));
            continue;
        }
        if (n_kept != i) {
            rows_.set(n_kept, rows_.sums(i));
            selected_.push_back(static_cast<std::uint32_t>(i));
        }
        ++n_kept;
    }
    // Keys are moved last, as neighbours are compared where they were.
    const std::size_t begin = n_kept - selected_.size();
    bool is_last_used = false;
    for (std::size_t p = first; p < rows_.n_planes(); ++p) {
        Word* keys = rows_.plane(p);
        for (std::size_t k = 0; k < selected_.size(); ++k) keys[begin + k] = keys[selected_[k]];
        is_last_used |= n_kept > 0 && keys[n_kept - 1] != 0;
    }
    // A row in no column that is left lies in no child any more.
    rows_.resize(n_kept > 0 && !is_last_used ? n_kept - 1 : n_kept);
}

}  // namespace rulesearch::conditions

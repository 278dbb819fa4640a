#include "librulesearch/row_classes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace rulesearch {

void RowClasses::assign(const Problem& problem, std::span<const std::uint32_t> rows,
                        const BitSet& candidates, Bound bound) {
    sums_.clear();
    signatures_.clear();
    closures_.clear();
    base_ = {};
    base_id_ = dropped_id_ = no_class;
    if (bound == Bound::row_classes) {
        merge(problem, rows, candidates);
    } else {
        for (const std::uint32_t row : rows)
            add_class(problem.rows[row], propositions_.signature(row), candidates);
    }
    sort();
}

void RowClasses::add_class(const Statistics& sums, const Word* closure, const BitSet& candidates) {
    sums_.push_back(sums);
    closures_.insert(closures_.end(), closure, closure + propositions_.stride());
    for (std::size_t w = 0; w < propositions_.stride(); ++w)
        signatures_.push_back(closure[w] & candidates.words()[w]);
}

void RowClasses::merge(const Problem& problem, std::span<const std::uint32_t> rows,
                       const BitSet& candidates) {
    const std::size_t stride = propositions_.stride();
    const std::size_t n_slots = std::bit_ceil(2 * rows.size() + 1);
    slots_.assign(n_slots, 0);
    std::vector<Word> signature(stride);
    for (const std::uint32_t row : rows) {
        const Word* closure = propositions_.signature(row);
        for (std::size_t w = 0; w < stride; ++w) signature[w] = closure[w] & candidates.words()[w];

        std::size_t slot = hash_words(signature.data(), stride) & (n_slots - 1);
        const auto is_other = [&](std::uint32_t entry) {
            return entry != 0 && !std::equal(signature.begin(), signature.end(),
                                             signatures_.begin() +
                                                 static_cast<std::ptrdiff_t>(offset(entry - 1)));
        };
        while (is_other(slots_[slot])) slot = (slot + 1) & (n_slots - 1);

        if (slots_[slot] == 0) {
            add_class(problem.rows[row], closure, candidates);
            slots_[slot] = static_cast<std::uint32_t>(sums_.size());
        } else {
            const std::size_t id = slots_[slot] - 1;
            sums_[id] += problem.rows[row];
            for (std::size_t w = 0; w < stride; ++w) closures_[offset(id) + w] &= closure[w];
        }
    }

    for (std::size_t id = 0; id < sums_.size(); ++id) {
        const Word* begin = signatures_.data() + offset(id);
        if (std::equal(begin, begin + stride, candidates.words().begin())) {
            base_ = sums_[id];
            base_id_ = id;
        } else if (std::all_of(begin, begin + stride, [](Word word) { return word == 0; })) {
            dropped_id_ = id;
        }
    }
}

void RowClasses::sort() {
    positive_.clear();
    negative_.clear();
    neutral_.clear();
    for (std::uint32_t id = 0; id < sums_.size(); ++id) {
        const Statistics& sums = sums_[id];
        if (id == base_id_ || id == dropped_id_) continue;
        if (sums.gradient == 0.0) {
            neutral_.push_back({sums, 0.0, id});
            continue;
        }
        const double ratio = sums.hessian > 0.0 ? std::abs(sums.gradient) / sums.hessian
                                                : std::numeric_limits<double>::infinity();
        (sums.gradient > 0.0 ? positive_ : negative_).push_back({sums, ratio, id});
    }
    const auto descending = [](const RowClass& a, const RowClass& b) { return a.ratio > b.ratio; };
    std::sort(positive_.begin(), positive_.end(), descending);
    std::sort(negative_.begin(), negative_.end(), descending);
}

double RowClasses::bound(double l2_regularization) const {
    double bound = 0.0;
    for (const std::vector<RowClass>* classes : {&positive_, &negative_}) {
        RunningBound running(base_, l2_regularization);
        for (const RowClass& row_class : *classes)
            running.add(row_class.sums.gradient, row_class.sums.hessian);
        bound = std::max(bound, running.bound());
    }
    return bound;
}

std::size_t RowClasses::critical_index(std::size_t position, const BitSet& implied) const {
    const std::size_t last = position / word_bits;
    std::vector<Word> newly_implied(last + 1);
    for (std::size_t w = 0; w <= last; ++w) newly_implied[w] = ~implied.words()[w];
    newly_implied[last] &= (Word{1} << (position % word_bits)) - 1;

    // Cuts the smaller positions down to those that contain the class; false when none is left.
    const auto restrict_to = [&](const Word* closure) {
        Word left = 0;
        for (std::size_t w = 0; w <= last; ++w) left |= newly_implied[w] &= closure[w];
        return left != 0;
    };
    if (base_id_ != no_class && !restrict_to(closures_.data() + offset(base_id_))) return position;
    for (const std::vector<RowClass>* classes : {&positive_, &negative_, &neutral_}) {
        for (const RowClass& row_class : *classes) {
            const bool is_covered = (signature(row_class)[last] >> (position % word_bits)) & 1;
            if (is_covered && !restrict_to(closures_.data() + offset(row_class.id)))
                return position;
        }
    }
    for (std::size_t w = 0; w <= last; ++w) {
        if (newly_implied[w] != 0)
            return w * word_bits + static_cast<std::size_t>(std::countr_zero(newly_implied[w]));
    }
    return position;
}

double bound_of_all_rows(const Problem& problem) {
    std::vector<std::uint32_t> rows(problem.propositions.n_distinct_rows());
    std::iota(rows.begin(), rows.end(), std::uint32_t{0});
    RowClasses classes(problem.propositions);
    classes.assign(problem, rows, BitSet(problem.propositions.n_columns(), true), Bound::paper);
    return classes.bound(problem.l2_regularization);
}

}  // namespace rulesearch

#include "librulesearch/beam/beam.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "librulesearch/kernels/keyed_rows.hpp"
#include "librulesearch/problem/discounted.hpp"

namespace rulesearch {
namespace {

struct Member {
    std::vector<std::size_t> query;  // columns
    BitSet extent;
    double value;
};

struct Extension {
    double value;
    std::size_t member;
    std::size_t column;
};

/// Grows queries column by column. Rows are read in blocks, of which each stays in a cache while
/// all its sums are made; sums are exact, so that blocks do not change them.
class Beam {
  public:
    Beam(const Problem& problem, const Limits& limits, const Kernels& kernels, std::size_t max_rows)
        : problem_(problem),
          limits_(limits),
          kernels_(kernels),
          max_rows_(std::max(min_block_rows, block_words / (problem.extents.stride() + 1))) {
        for (auto* sums : {&gradients_, &hessians_, &coverages_, &first_, &second_})
            sums->resize(n_columns());
        projections_.resize(problem.refitted.n_components * n_columns());
        if (problem.rows.size() > max_rows) take_sample(max_rows);
    }

    bool is_sample() const { return scale_ > 1.0; }

    /// Appends proper, sufficiently covering extensions.
    void extend(const Member& member, std::size_t index, std::vector<Extension>& extensions,
                Counters& counters) {
        for (auto* sums : {&gradients_, &hessians_, &coverages_, &projections_})
            std::fill(sums->begin(), sums->end(), 0.0);
        in_any_.assign(problem_.extents.stride(), 0);
        in_all_.assign(problem_.extents.stride(), ~Word{0});
        BitSet rows = member.extent;
        if (is_sample()) rows &= sample_;
        rows.for_each([&](std::size_t row) {
            selected_.push_back(static_cast<std::uint32_t>(row));
            if (selected_.size() == max_rows_) add_block();
        });
        add_block();
        ++counters.n_nodes;
        for (std::size_t p = 0; p < in_any_.size(); ++p) {
            for_each_bit(in_any_[p] & ~in_all_[p], p * word_bits, [&](std::size_t column) {
                ++counters.n_evaluations;
                if (limits_.min_coverage > 0.0 &&
                    scale_ * coverages_[column] < limits_.min_coverage)
                    return;
                extensions.push_back({value(column), index, column});
            });
        }
    }

  private:
    static constexpr std::size_t min_block_rows = 4096, block_words = std::size_t{1} << 16;

    /// Sets: about that many rows, which have no order in common with the table, and the scale of
    /// their sums.
    void take_sample(std::size_t max_rows) {
        const std::size_t n_rows = problem_.rows.size();
        constexpr std::uint64_t n_numbers = std::uint64_t{1} << 32;
        const std::uint64_t end = n_numbers / n_rows * max_rows;
        sample_ = BitSet(n_rows);
        for (std::size_t row = 0; row < n_rows; ++row)
            if ((row * 0x9e3779b97f4a7c15ULL) >> 32 < end) sample_.insert(row);
        scale_ = static_cast<double>(n_rows) /
                 static_cast<double>(std::max<std::size_t>(sample_.size(), 1));
    }

    std::size_t n_columns() const { return problem_.extents.stride() * word_bits; }

    /// Adds the selected rows to the sums; none are selected afterwards.
    void add_block() {
        const Extents& extents = problem_.extents;
        rows_.reset(selected_.size(), extents.stride(), limits_.min_coverage > 0.0);
        for (std::size_t i = 0; i < selected_.size(); ++i) {
            rows_.push(problem_.rows[selected_[i]]);
            const Word* signature = extents.signature(selected_[i]);
            for (std::size_t p = 0; p < extents.stride(); ++p) rows_.plane(p)[i] = signature[p];
        }
        for (std::size_t p = 0; p < extents.stride(); ++p) {
            const auto [in_any, in_all] = rows_.in_any_and_all(p);
            in_any_[p] |= in_any;
            in_all_[p] &= in_all;
        }
        add_sums(rows_.view(), gradients_.data(), hessians_.data());
        if (limits_.min_coverage > 0.0) add_sums(rows_.coverage_view(), coverages_.data(), nullptr);
        add_projections();
        selected_.clear();
    }

    /// Adds sums of all columns, of gradients and of what is in the place of hessians.
    void add_sums(const RowsView& rows, double* of_first, double* of_second) {
        kernels_.sum_columns(rows, {first_.data(), second_.data()});
        for (std::size_t column = 0; column < n_columns(); ++column)
            of_first[column] += first_[column];
        if (of_second == nullptr) return;
        for (std::size_t column = 0; column < n_columns(); ++column)
            of_second[column] += second_[column];
    }

    /// Adds, for two components at a time of what terms imitate, the sums of all columns.
    void add_projections() {
        const RefittedTerms& refitted = problem_.refitted;
        RowsView rows = rows_.view();
        for (auto* values : {&values_, &next_values_}) values->resize(selected_.size() + padding);
        rows.gradients = values_.data();
        rows.hessians = next_values_.data();
        for (std::size_t k = 0; k < refitted.n_components; k += 2) {
            const bool has_next = k + 1 < refitted.n_components;
            const double* component = refitted.component(k);
            for (std::size_t i = 0; i < selected_.size(); ++i) values_[i] = component[selected_[i]];
            if (has_next) component = refitted.component(k + 1);
            for (std::size_t i = 0; i < selected_.size(); ++i)
                next_values_[i] = component[selected_[i]];
            double* sums = projections_.data() + k * n_columns();
            add_sums(rows, sums, has_next ? sums + n_columns() : nullptr);
        }
    }

    double value(std::size_t column) const {
        const RefittedTerms& refitted = problem_.refitted;
        const double gradients = scale_ * gradients_[column], hessians = scale_ * hessians_[column];
        if (refitted.empty()) return problem_.value(gradients, hessians);
        std::vector<double> sums(refitted.n_components);
        for (std::size_t k = 0; k < sums.size(); ++k)
            sums[k] = scale_ * projections_[k * n_columns() + column];
        return problem_.joint_value(gradients, refitted.left(hessians, sums.data()));
    }

    const Problem& problem_;
    const Limits& limits_;
    const Kernels& kernels_;
    std::size_t max_rows_;  // of a block
    BitSet sample_;
    double scale_ = 1.0;  // of the sums of a sample
    KeyedRows rows_;      // of a block
    std::vector<std::uint32_t> selected_;
    std::vector<Word> in_any_, in_all_;  // by plane: columns that some row, or all, lie in
    std::vector<double> gradients_, hessians_, coverages_, projections_;  // by column
    std::vector<double> first_, second_;                                  // the same, of a block
    std::vector<double> values_, next_values_;                            // by row of a block
};

/// The `width` best extensions with different extents, the best first; and those before them that
/// are taken, which do not count.
std::vector<Member> select(const Problem& problem, const std::vector<Member>& members,
                           std::vector<Extension>& extensions, std::size_t width) {
    // Of equal ones the first.
    const auto is_worse = [](const Extension& a, const Extension& b) {
        if (a.value != b.value) return a.value < b.value;
        return std::tie(a.member, a.column) > std::tie(b.member, b.column);
    };
    std::make_heap(extensions.begin(), extensions.end(), is_worse);
    std::vector<Member> selected;
    std::size_t n_taken = 0;
    while (!extensions.empty() && selected.size() < width + n_taken) {
        const Extension& extension = extensions.front();
        Member member = members[extension.member];
        member.value = extension.value;
        member.query.push_back(extension.column);
        member.extent &= problem.extents.extent(extension.column);
        const auto is_same = [&](const Member& other) { return other.extent == member.extent; };
        if (std::none_of(selected.begin(), selected.end(), is_same)) {
            if (problem.refitted.excluded.contains(member.extent)) {
                member.value = 0.0;  // but it may lead to others
                ++n_taken;
            }
            selected.push_back(std::move(member));
        }
        std::pop_heap(extensions.begin(), extensions.end(), is_worse);
        extensions.pop_back();
    }
    return selected;
}

/// Sets: what members are worth.
void set_values(const Problem& problem, const Limits& limits, std::vector<Member>& members) {
    for (Member& member : members) {
        const auto [value, sums] = problem.worth(member.extent);
        // Less than any other: it may lead to others, but is none of the queries.
        member.value = sums.coverage < limits.min_coverage ? -1.0 : value;
    }
}

}  // namespace

void extend_beam(const Problem& problem, const Limits& limits, const Kernels& kernels,
                 std::size_t width, Incumbent& incumbent, Counters& counters,
                 const Interrupt& interrupt, const Queries& starts, Queries* kept,
                 std::size_t max_rows) {
    Beam beam(problem, limits, kernels, max_rows);
    std::vector<Member> members;
    for (const std::vector<std::size_t>& start : starts)
        members.push_back({start, problem.extents.extent_of(start), 0.0});
    for (std::size_t size = starts[0].size(); size < limits.max_conditions; ++size) {
        std::vector<Extension> extensions;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (interrupt.is_requested()) return;
            beam.extend(members[i], i, extensions, counters);
        }
        members = select(problem, members, extensions, width);
        if (beam.is_sample()) set_values(problem, limits, members);
        if (kept != nullptr)
            for (const Member& member : members) kept->push_back(member.query);
        const auto is_better = [&](const Member& member) {
            return member.value > incumbent.value();
        };
        if (std::none_of(members.begin(), members.end(), is_better)) return;
        for (const Member& member : members) incumbent.offer(member.value, member.query);
    }
}

Result beam(const Problem& problem, const Limits& limits, std::size_t width, Queries starts) {
    Result result;
    Control control(limits);
    Incumbent incumbent(problem.extents);
    incumbent.offer(problem.worth_of_all().value, {});
    const Progress progress{incumbent.value(), bound_of_all_rows(problem), 0, 0, false};
    for (std::vector<std::size_t>& start : starts) start = problem.extents.columns_of(start);
    extend_beam(problem, limits, kernels(instruction_sets().back()), width, incumbent,
                result.counters, {control, &progress}, starts, &result.kept);
    for (std::vector<std::size_t>& query : result.kept) {
        for (std::size_t& column : query) column = problem.extents.condition_index(column);
        std::sort(query.begin(), query.end());
    }

    result.query = incumbent.query();
    result.value = incumbent.value();
    result.bound = std::max(result.value, progress.bound);
    result.status = control.reason().value_or(Status::heuristic);
    return result;
}

}  // namespace rulesearch

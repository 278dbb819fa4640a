#include "librulesearch/beam.hpp"

#include <algorithm>
#include <utility>

#include "librulesearch/sorted_rows.hpp"

namespace rulesearch {
namespace {

struct Member {
    std::vector<std::size_t> query;  // columns
    BitSet extent;
};

struct Extension {
    double value;
    std::size_t member;
    std::size_t column;
};

/// Proper, sufficiently covering extensions of a member.
void append_extensions(const Problem& problem, const Limits& limits, const Member& member,
                       std::size_t member_index, std::vector<Extension>& extensions,
                       Counters& counters) {
    const Propositions& propositions = problem.propositions;
    std::vector<Statistics> sums(propositions.n_columns());
    std::vector<std::size_t> sizes(propositions.n_columns());
    std::size_t n_covered = 0;
    member.extent.for_each([&](std::size_t row) {
        ++n_covered;
        for (std::size_t w = 0; w < propositions.stride(); ++w) {
            for_each_bit(propositions.signature(row)[w], w * word_bits, [&](std::size_t column) {
                sums[column] += problem.rows[row];
                ++sizes[column];
            });
        }
    });
    ++counters.n_nodes;
    for (std::size_t column = 0; column < propositions.n_columns(); ++column) {
        if (sizes[column] == n_covered || sizes[column] == 0) continue;
        ++counters.n_evaluations;
        if (sums[column].coverage < limits.min_coverage) continue;
        extensions.push_back({problem.value(sums[column]), member_index, column});
    }
}

/// The `width` best extensions with different extents.
std::vector<Member> select(const Propositions& propositions, const std::vector<Member>& members,
                           std::vector<Extension>& extensions, std::size_t width) {
    std::stable_sort(extensions.begin(), extensions.end(),
                     [](const Extension& a, const Extension& b) { return a.value > b.value; });
    std::vector<Member> selected;
    for (const Extension& extension : extensions) {
        if (selected.size() == width) break;
        Member member = members[extension.member];
        member.query.push_back(extension.column);
        member.extent &= propositions.extent(extension.column);
        const auto is_same = [&](const Member& other) { return other.extent == member.extent; };
        if (std::none_of(selected.begin(), selected.end(), is_same))
            selected.push_back(std::move(member));
    }
    return selected;
}

}  // namespace

void extend_beam(const Problem& problem, const Limits& limits, std::size_t width,
                 Incumbent& incumbent, Counters& counters, const Interrupt& interrupt) {
    std::vector<Member> members{{{}, BitSet(problem.propositions.n_distinct_rows(), true)}};
    for (std::size_t size = 0; size < limits.max_conditions; ++size) {
        std::vector<Extension> extensions;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (interrupt.is_requested()) return;
            append_extensions(problem, limits, members[i], i, extensions, counters);
        }
        members = select(problem.propositions, members, extensions, width);
        if (members.empty() || extensions.front().value <= incumbent.value()) return;
        for (const Member& member : members) {
            Statistics sums;
            member.extent.for_each([&](std::size_t row) { sums += problem.rows[row]; });
            incumbent.offer(problem.value(sums), member.query);
        }
    }
}

Result beam(const Problem& problem, const Limits& limits, std::size_t width) {
    Result result;
    Control control(limits);
    Incumbent incumbent(problem.propositions);
    incumbent.offer(problem.value(problem.total()), {});
    const Progress progress{incumbent.value(), bound_of_all_rows(problem), 0, 0, false};
    extend_beam(problem, limits, width, incumbent, result.counters, {control, &progress});

    result.query = incumbent.query();
    result.value = incumbent.value();
    result.bound = std::max(result.value, progress.bound);
    result.status = control.reason().value_or(Status::heuristic);
    return result;
}

}  // namespace rulesearch

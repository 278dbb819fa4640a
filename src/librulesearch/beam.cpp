#include "librulesearch/beam.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "librulesearch/row_classes.hpp"

namespace rulesearch {
namespace {

struct Member {
    std::vector<std::size_t> query;  // positions
    BitSet extent;
};

struct Extension {
    double value;
    std::size_t member;
    std::size_t position;
};

/// Proper, sufficiently covering extensions of a member.
void append_extensions(const Problem& problem, const OrderedTable& table, const Limits& limits,
                       const Member& member, std::size_t member_index,
                       std::vector<Extension>& extensions, Counters& counters) {
    std::vector<Statistics> sums(table.n_columns());
    std::vector<std::size_t> sizes(table.n_columns());
    std::size_t n_covered = 0;
    member.extent.for_each([&](std::size_t row) {
        ++n_covered;
        for (std::size_t w = 0; w < table.stride(); ++w) {
            for_each_bit(table.signature(row)[w], w * word_bits, [&](std::size_t position) {
                sums[position] += problem.rows[row];
                ++sizes[position];
            });
        }
    });
    ++counters.n_nodes;
    for (std::size_t position = 0; position < table.n_columns(); ++position) {
        if (sizes[position] == n_covered || sizes[position] == 0) continue;
        ++counters.n_evaluations;
        if (sums[position].coverage < limits.min_coverage) continue;
        extensions.push_back({problem.value(sums[position]), member_index, position});
    }
}

/// The `width` best extensions with different extents.
std::vector<Member> select(const OrderedTable& table, const std::vector<Member>& members,
                           std::vector<Extension>& extensions, std::size_t width) {
    std::stable_sort(extensions.begin(), extensions.end(),
                     [](const Extension& a, const Extension& b) { return a.value > b.value; });
    std::vector<Member> selected;
    for (const Extension& extension : extensions) {
        if (selected.size() == width) break;
        Member member = members[extension.member];
        member.query.push_back(extension.position);
        member.extent &= table.extent(extension.position);
        const auto is_same = [&](const Member& other) { return other.extent == member.extent; };
        if (std::none_of(selected.begin(), selected.end(), is_same))
            selected.push_back(std::move(member));
    }
    return selected;
}

std::vector<std::size_t> columns(const OrderedTable& table, const std::vector<std::size_t>& query) {
    std::vector<std::size_t> columns;
    for (const std::size_t position : query) columns.push_back(table.column(position));
    return columns;
}

}  // namespace

void extend_beam(const Problem& problem, const OrderedTable& table, const Limits& limits,
                 std::size_t width, Incumbent& incumbent, Counters& counters,
                 const Interrupt& interrupt) {
    std::vector<Member> members{{{}, BitSet(table.n_rows(), true)}};
    for (std::size_t size = 0; size < limits.max_conditions; ++size) {
        std::vector<Extension> extensions;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (interrupt.is_requested()) return;
            append_extensions(problem, table, limits, members[i], i, extensions, counters);
        }
        members = select(table, members, extensions, width);
        if (members.empty() || extensions.front().value <= incumbent.value()) return;
        for (const Member& member : members) {
            Statistics sums;
            member.extent.for_each([&](std::size_t row) { sums += problem.rows[row]; });
            incumbent.offer(problem.value(sums), columns(table, member.query));
        }
    }
}

Result beam(const Problem& problem, const Limits& limits, std::size_t width) {
    Result result;
    Control control(limits);
    std::vector<std::size_t> order(problem.propositions.n_columns());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const OrderedTable table(problem.propositions, std::move(order));
    std::vector<std::uint32_t> all_rows(table.n_rows());
    std::iota(all_rows.begin(), all_rows.end(), std::uint32_t{0});
    RowClasses classes(table);
    classes.assign(problem, all_rows, BitSet(table.n_columns(), true), Bound::paper);

    Incumbent incumbent(problem.propositions);
    incumbent.offer(problem.value(problem.total()), {});
    const Progress progress{incumbent.value(), classes.bound(problem.l2_regularization), 0, 0};
    extend_beam(problem, table, limits, width, incumbent, result.counters, {control, &progress});

    result.query = incumbent.query();
    result.value = incumbent.value();
    result.bound = std::max(result.value, progress.bound);
    result.status = control.reason().value_or(Status::heuristic);
    return result;
}

}  // namespace rulesearch

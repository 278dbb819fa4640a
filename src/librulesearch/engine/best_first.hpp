// Exact search: best-bound-first branch-and-bound, whatever it branches over.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "librulesearch/engine/control.hpp"
#include "librulesearch/engine/open_nodes.hpp"
#include "librulesearch/engine/pieces.hpp"
#include "librulesearch/engine/workers.hpp"
#include "librulesearch/problem/discounted.hpp"
#include "librulesearch/problem/incumbent.hpp"
#include "librulesearch/problem/problem.hpp"

namespace rulesearch {

/// What a way of branching need not have.
template <typename Node>
struct OptionalHooks {
    /// Nodes of bounds that exceed the incumbent by no more than this share of it may be left to
    /// the ties.
    static constexpr double bound_slack = 0.0;
    /// A node is about to be opened for the first time.
    void prepare(Node&) {}
    /// The expansion's children are about to be opened; here they may share memory, or not.
    template <typename Expansion>
    void prepare_children(Expansion&, const MemoryAccount&) {}
    /// A node was given up unexpanded.
    template <typename Goal>
    void give_up(Node, const Goal&) {}
    /// The incumbent's value is proven: nodes that were given up but may hold queries of the same
    /// value, which goals are about from now on.
    std::vector<Node> tied_nodes(const Incumbent&) { return {}; }
    /// Nodes as bytes, for searches that several share.
    void write(const std::vector<Node>&, ByteWriter&) {}
    std::vector<Node> read(ByteReader&, const MemoryAccount&) { return {}; }
    /// Nodes that share memory are in one group.
    const void* group(const Node&) { return nullptr; }
};

/// Runs a search over a `Branching`, which has a type `Node` (see OpenNodes), the above hooks and
/// - `find_incumbent(incumbent, interrupt)`, a heuristic;
/// - `roots(bound, incumbent)`, nodes that together hold all queries within the limits;
/// - `goal(incumbent)`, what is looked for: it has `can_prune(node)`, and `unproven(bound)`, which
///   is the bound if giving it up leaves something unproven, else 0;
/// - `make_expander()`, a pointer to an expander of its own for each worker, which has
///   `expand(node, goal, interrupt)`;
/// - `take(expansion, incumbent)`, which offers the queries found.
///
/// The result, counters included, does not depend on the number of workers.
template <typename Branching>
class BestFirst {
  public:
    BestFirst(const Problem& problem, const Limits& limits, const Resources& resources,
              const Piece& piece, Branching& branching)
        : problem_(problem),
          limits_(limits),
          piece_(piece),
          branching_(branching),
          control_(limits),
          workers_(resources.n_workers),
          incumbent_(problem.extents, limits.cutoff, limits.n_best),
          open_(resources.memory_limit) {
        for (std::size_t worker = 0; worker < resources.n_workers; ++worker)
            expanders_.push_back(branching.make_expander());
    }

    Result solve() {
        incumbent_.offer(problem_.worth_of_all().value, {});
        incumbent_.offer(problem_.worth(problem_.extents.extent_of(piece_.start)).value,
                         piece_.start);
        if (limits_.max_conditions > 0) {
            start();
            run(limits_.node_limit);
            if (open_.empty() && !incumbent_.is_below_cutoff()) settle_ties();
        }
        return result();
    }

  private:
    using Node = typename Branching::Node;
    using Goal = decltype(std::declval<Branching&>().goal(std::declval<const Incumbent&>()));
    using Expander = decltype(std::declval<Branching&>().make_expander());
    using Expansion = decltype(std::declval<Expander&>()->expand(
        std::declval<Node&>(), std::declval<Goal&>(), std::declval<Interrupt&>()));

    // Few enough for the incumbent to be recent, many enough to keep workers busy.
    static constexpr std::uint64_t max_batch_size = 64;
    static constexpr std::uint64_t min_batch_size = [] {
        if constexpr (requires { Node::min_batch_size; }) return Node::min_batch_size;
        return std::uint64_t{1};
    }();

    // Nodes that may be spent on ties, in proportion to those of the proof and at least: where ties
    // are countless, one of them is as good as another.
    static constexpr std::uint64_t tie_nodes_per_node = 1;
    static constexpr std::uint64_t min_tie_nodes = 1000;

    /// Sets: a first incumbent and the roots, or the nodes of the piece.
    void start() {
        const double bound = std::max(incumbent_.value(), bound_of_all_rows(problem_));
        progress_ = {incumbent_.value(), bound, 0, 1, false};
        if (!piece_.parts) {
            branching_.find_incumbent(incumbent_, {control_, &progress_});
            push(branching_.roots(bound, incumbent_));
            return;
        }
        for (const std::string& part : *piece_.parts) {
            ByteReader reader(part);
            push(branching_.read(reader, open_.memory()));
        }
    }

    void push(std::vector<Node> nodes) {
        for (Node& node : nodes) {
            branching_.prepare(node);
            open_.push(std::move(node));
        }
    }

    void run(std::uint64_t node_limit) {
        while (!open_.empty() && !control_.is_stopped()) {
            if (limits_.stops_above_cutoff && incumbent_.value() > limits_.cutoff) {
                control_.stop(Status::cutoff);
                return;
            }
            const Goal goal = branching_.goal(incumbent_);
            if (goal.can_prune(open_.top())) {
                Node node = open_.pop();
                note_pruned(goal.unproven(node.bound));
                branching_.give_up(std::move(node), goal);
            } else if (counters_.n_nodes >= node_limit ||
                       counters_.n_table_rows + counters_.n_table_sets >= limits_.table_limit) {
                control_.stop(Status::node_limit);
            } else if (counters_.n_nodes > 0 && is_share_over()) {
                control_.stop(Status::time_limit);
            } else {
                expand_batch(goal, node_limit - counters_.n_nodes);
            }
        }
    }

    /// Expands the best nodes against the same incumbent and gathers what they yield in their
    /// order: who expanded which node when leaves no trace.
    void expand_batch(const Goal& goal, std::uint64_t max_size) {
        std::vector<Node> batch;
        const std::uint64_t size =
            std::min({std::max(1 + open_.size() / 8, min_batch_size), max_batch_size, max_size});
        progress_ = {incumbent_.value(), open_bound(), counters_.n_nodes, open_.size(),
                     open_.is_depth_first()};
        while (batch.size() < size && !open_.empty() && !goal.can_prune(open_.top()))
            batch.push_back(open_.pop());
        if (progress_.is_depth_first) counters_.n_depth_first += batch.size();
        std::vector<Expansion> expansions(batch.size());
        control_.poll(progress_);
        const auto expand = [&](std::size_t worker, std::size_t item) {
            const Interrupt interrupt{control_, worker == 0 ? &progress_ : nullptr};
            if (interrupt.is_requested() || (item > 0 && is_share_over())) return;
            expansions[item] = expanders_[worker]->expand(batch[item], goal, interrupt);
        };
        workers_.run(batch.size(), expand, [&] { control_.poll(progress_); });
        for (std::size_t item = 0; item < batch.size(); ++item)
            gather(std::move(batch[item]), expansions[item]);
    }

    void gather(Node node, Expansion& expansion) {
        if (!expansion.is_complete) {
            open_.push(std::move(node));
            return;
        }
        ++counters_.n_nodes;
        counters_ += expansion.counters;
        note_pruned(expansion.largest_pruned);
        branching_.take(expansion, incumbent_);
        std::sort(expansion.children.begin(), expansion.children.end());
        for (Node& child : expansion.children) branching_.prepare(child);
        branching_.prepare_children(expansion, open_.memory());
        open_.push_children(std::move(expansion.children));
    }

    bool is_share_over() const {
        const auto passed = std::chrono::steady_clock::now() - start_;
        return std::chrono::duration<double>(passed).count() >= piece_.seconds;
    }

    void settle_ties() {
        is_proven_ = true;
        push(branching_.tied_nodes(incumbent_));
        const std::uint64_t room = limits_.node_limit - counters_.n_nodes;
        const std::uint64_t wanted =
            std::max(min_tie_nodes, counters_.n_nodes * tie_nodes_per_node);
        run(counters_.n_nodes + std::min(wanted, room));
        has_enough_ties_ = wanted <= room && control_.reason() == Status::node_limit;
    }

    void note_pruned(double unproven) { largest_pruned_ = std::max(largest_pruned_, unproven); }

    /// No query in an open node is worth more; what is open after the proof holds ties only, and
    /// what may be worth more by no more than the slack.
    double open_bound() const {
        const bool holds_ties_only = is_proven_ && Branching::bound_slack == 0.0;
        return holds_ties_only || open_.empty() ? incumbent_.value() : open_.bound();
    }

    /// Where the cutoff was not reached, nothing below it was looked at.
    double unseen_bound() const {
        return incumbent_.is_below_cutoff() ? limits_.cutoff * (1.0 + Branching::bound_slack) : 0.0;
    }

    /// Hands back the open nodes, but for those that the incumbent makes superfluous.
    std::vector<OpenPart> open_parts() {
        const Goal goal = branching_.goal(incumbent_);
        std::vector<Node> nodes;
        while (!open_.empty()) {
            Node node = open_.pop();
            if (goal.can_prune(node)) {
                note_pruned(goal.unproven(node.bound));
            } else {
                nodes.push_back(std::move(node));
            }
        }
        std::sort(nodes.rbegin(), nodes.rend());
        std::vector<OpenPart> parts;
        for (const std::vector<Node>& hand :
             deal(std::move(nodes), piece_.n_parts,
                  [&](const Node& n) { return branching_.group(n); })) {
            ByteWriter writer;
            branching_.write(hand, writer);
            parts.push_back({hand.front().bound, hand.size(), writer.take()});
        }
        return parts;
    }

    Result result() {
        Result result;
        const double bound = open_bound();
        if (piece_.n_parts > 0) result.open = open_parts();
        const bool is_closed = open_.empty() && result.open.empty();
        result.closed_bound = largest_pruned_;
        result.value = incumbent_.value();
        result.query = incumbent_.query();
        result.bound = std::max({result.value, largest_pruned_,
                                 is_closed ? unseen_bound() : std::max(bound, unseen_bound())});
        result.counters = counters_;
        if (result.bound <= result.value || has_enough_ties_) {
            result.status = Status::optimal;
        } else if (is_closed) {
            const bool is_cut = incumbent_.is_below_cutoff() && largest_pruned_ <= limits_.cutoff;
            result.status = is_cut ? Status::cutoff : Status::approximate;
        } else {
            result.status = *control_.reason();
        }
        result.kept = incumbent_.queries();
        return result;
    }

    const Problem& problem_;
    const Limits& limits_;
    const Piece& piece_;
    Branching& branching_;
    Control control_;
    Workers workers_;
    std::vector<Expander> expanders_;
    Incumbent incumbent_;
    OpenNodes<Node> open_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    Progress progress_{};
    Counters counters_;
    double largest_pruned_ = 0.0;
    bool is_proven_ = false;
    bool has_enough_ties_ = false;
};

}  // namespace rulesearch

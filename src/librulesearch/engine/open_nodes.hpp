// The nodes still to be expanded, the memory they may take, and what their expansion yields.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "librulesearch/problem/problem.hpp"

namespace rulesearch {

/// Takes bytes off an account when its last copy goes.
using MemoryCharge = std::shared_ptr<void>;

/// Bytes that open nodes, and what several of them share, take and may take.
class MemoryAccount {
  public:
    explicit MemoryAccount(std::size_t limit) : limit_(limit) {}

    std::size_t limit() const { return limit_; }
    std::size_t used() const { return *used_; }
    void add(std::size_t n_bytes) { *used_ += n_bytes; }
    void subtract(std::size_t n_bytes) { *used_ -= n_bytes; }
    /// Bytes that count as long as the charge lives, which may be longer than the account.
    MemoryCharge charge(std::size_t n_bytes) const {
        *used_ += n_bytes;
        return {nullptr, [used = used_, n_bytes](void*) { *used -= n_bytes; }};
    }

  private:
    std::size_t limit_;
    std::shared_ptr<std::size_t> used_ = std::make_shared<std::size_t>(0);
};

/// Best-bound-first as long as memory lasts. Beyond the limit it turns depth-first: it goes down
/// from one node at a time, which needs room for the siblings along one path only, until half of
/// the memory is free again.
///
/// A `Node` has a `bound`, says how many bytes it takes (`n_bytes`) and is less than those to be
/// expanded before it.
template <typename Node>
class OpenNodes {
  public:
    explicit OpenNodes(std::size_t memory_limit) : memory_(memory_limit) {}

    bool empty() const { return heap_.empty() && path_.empty(); }
    std::size_t size() const { return heap_.size() + path_.size(); }
    bool is_depth_first() const { return is_depth_first_; }
    const MemoryAccount& memory() const { return memory_; }

    /// Largest bound of all nodes; there must be one.
    double bound() const {
        double bound = heap_.empty() ? 0.0 : heap_.front().bound;
        for (const Node& node : path_) bound = std::max(bound, node.bound);
        return bound;
    }

    /// The next node to expand; there must be one.
    const Node& top() const { return path_.empty() ? heap_.front() : path_.back(); }

    Node pop() {
        std::vector<Node>& nodes = path_.empty() ? heap_ : path_;
        if (path_.empty()) std::pop_heap(heap_.begin(), heap_.end());
        Node node = std::move(nodes.back());
        nodes.pop_back();
        memory_.subtract(node.n_bytes());
        return node;
    }

    void push(Node node) {
        memory_.add(node.n_bytes());
        if (is_depth_first_) {
            path_.push_back(std::move(node));
        } else {
            push_on_heap(std::move(node));
        }
    }

    /// Adds the children of one node, of which the last one is the next down the path.
    void push_children(std::vector<Node> children) {
        if (children.empty()) return;
        for (Node& child : children) push(std::move(child));
        if (memory_.used() > memory_.limit()) is_depth_first_ = true;
        if (is_depth_first_ && memory_.used() <= memory_.limit() / 2) {
            is_depth_first_ = false;
            for (Node& node : path_) push_on_heap(std::move(node));
            path_.clear();
        }
    }

  private:
    void push_on_heap(Node node) {
        heap_.push_back(std::move(node));
        std::push_heap(heap_.begin(), heap_.end());
    }

    MemoryAccount memory_;
    bool is_depth_first_ = false;
    std::vector<Node> heap_;
    std::vector<Node> path_;
};

/// What the expansion of any node yields; a way of branching adds what it offers.
template <typename Node>
struct BasicExpansion {
    std::vector<Node> children;
    Counters counters;
    double largest_pruned = 0.0;  // largest bound given up that leaves something unproven
    bool is_complete = false;

    void note_pruned(double unproven) { largest_pruned = std::max(largest_pruned, unproven); }
};

}  // namespace rulesearch

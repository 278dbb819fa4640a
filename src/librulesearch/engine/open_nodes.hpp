// The nodes still to be expanded, and the memory they may take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "librulesearch/engine/memory.hpp"

namespace rulesearch {

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

}  // namespace rulesearch

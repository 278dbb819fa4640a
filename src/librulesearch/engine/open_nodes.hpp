// The nodes still to be expanded, and the memory they may take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "librulesearch/conditions/node.hpp"

namespace rulesearch {

/// Best-bound-first as long as memory lasts. Beyond the limit it turns depth-first: it goes down
/// from one node at a time, which needs room for the siblings along one path only, until half of
/// the memory is free again.
class Boundary {
  public:
    explicit Boundary(std::size_t memory_limit) : memory_limit_(memory_limit) {}

    bool empty() const { return heap_.empty() && path_.empty(); }
    std::size_t size() const { return heap_.size() + path_.size(); }
    bool is_depth_first() const { return is_depth_first_; }

    /// Largest bound of all nodes; there must be one.
    double bound() const {
        double bound = heap_.empty() ? 0.0 : heap_.top().bound;
        for (const Node& node : path_) bound = std::max(bound, node.bound);
        return bound;
    }

    /// The next node to expand; there must be one.
    const Node& top() const { return path_.empty() ? heap_.top() : path_.back(); }

    Node pop() {
        Node node = top();
        path_.empty() ? heap_.pop() : path_.pop_back();
        used_ -= n_bytes(node);
        return node;
    }

    void push(Node node) {
        used_ += n_bytes(node);
        if (is_depth_first_) {
            path_.push_back(std::move(node));
        } else {
            heap_.push(std::move(node));
        }
    }

    /// Adds the children of one node. Their rows are kept while little is used; else each
    /// child will have to collect its own.
    void push_children(std::vector<Node> children, const std::shared_ptr<Siblings>& siblings) {
        if (children.empty()) return;
        if (used_ + *shared_ + siblings->rows.n_bytes() > memory_limit_ / 4) siblings->rows = {};
        const std::size_t shared = siblings->n_bytes();
        *shared_ += shared;
        siblings->on_release = Release(shared_, shared);
        // The best one last, so that it is the next one down the path.
        std::sort(children.begin(), children.end());
        for (Node& child : children) push(std::move(child));
        const std::size_t n_used = used_ + *shared_;
        if (n_used > memory_limit_) is_depth_first_ = true;
        if (is_depth_first_ && n_used <= memory_limit_ / 2) {
            is_depth_first_ = false;
            for (Node& node : path_) heap_.push(std::move(node));
            path_.clear();
        }
    }

  private:
    static std::size_t n_bytes(const Node& node) {
        return sizeof(Node) + node.query.capacity() * sizeof(node.query[0]);
    }

    std::size_t memory_limit_;
    std::size_t used_ = 0;                                                    // by nodes
    std::shared_ptr<std::size_t> shared_ = std::make_shared<std::size_t>(0);  // by siblings
    bool is_depth_first_ = false;
    std::priority_queue<Node> heap_;
    std::vector<Node> path_;
};

}  // namespace rulesearch

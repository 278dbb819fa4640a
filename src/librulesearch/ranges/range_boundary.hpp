// The nodes of the search over ranges still to be expanded, and the memory they may take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <queue>
#include <utility>
#include <vector>

#include "librulesearch/ranges/node.hpp"

namespace rulesearch {

/// Best-bound-first as long as memory lasts. Beyond the limit it turns depth-first, down from one
/// node at a time, until half of the memory is free again.
class RangeBoundary {
  public:
    explicit RangeBoundary(std::size_t memory_limit) : memory_limit_(memory_limit) {}

    bool empty() const { return heap_.empty() && path_.empty(); }
    std::size_t size() const { return heap_.size() + path_.size(); }
    bool is_depth_first() const { return is_depth_first_; }

    /// Largest bound of all nodes; there must be one.
    double bound() const {
        double bound = heap_.empty() ? 0.0 : heap_.top().bound;
        for (const RangeNode& node : path_) bound = std::max(bound, node.bound);
        return bound;
    }

    /// The next node to expand; there must be one.
    const RangeNode& top() const { return path_.empty() ? heap_.top() : path_.back(); }

    RangeNode pop() {
        RangeNode node = top();
        path_.empty() ? heap_.pop() : path_.pop_back();
        used_ -= node.n_bytes();
        if (is_depth_first_ && used_ <= memory_limit_ / 2) {
            is_depth_first_ = false;
            for (RangeNode& waiting : path_) heap_.push(std::move(waiting));
            path_.clear();
        }
        return node;
    }

    /// Of several nodes the best one should come last, to be the next down the path.
    void push(RangeNode node) {
        used_ += node.n_bytes();
        if (used_ > memory_limit_) is_depth_first_ = true;
        if (is_depth_first_) {
            path_.push_back(std::move(node));
        } else {
            heap_.push(std::move(node));
        }
    }

  private:
    std::size_t memory_limit_;
    std::size_t used_ = 0;
    bool is_depth_first_ = false;
    std::priority_queue<RangeNode> heap_;
    std::vector<RangeNode> path_;
};

}  // namespace rulesearch

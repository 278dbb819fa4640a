// When to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "librulesearch/problem/problem.hpp"

namespace rulesearch {

/// Watches the clock and the caller's `should_stop`. One thread, the caller's, polls; all others
/// only look at the flag.
class Control {
  public:
    explicit Control(const Limits& limits) : limits_(limits) {}

    /// Cheap enough to be called every few microseconds. Only from the calling thread.
    void poll(const Progress& progress) {
        if (is_stopped()) return;
        const auto now = Clock::now();
        if (std::chrono::duration<double>(now - start_).count() >= limits_.time_limit) {
            stop(Status::time_limit);
        } else if (limits_.should_stop && now >= next_question_) {
            if (limits_.should_stop(progress)) stop(Status::interrupted);
            next_question_ = Clock::now() + question_interval;
        }
    }

    bool is_stopped() const { return is_stopped_.load(std::memory_order_relaxed); }
    /// Why the search was stopped; nothing while it runs.
    std::optional<Status> reason() const { return reason_; }

    void stop(Status reason) {
        reason_ = reason;
        is_stopped_.store(true, std::memory_order_relaxed);
    }

  private:
    using Clock = std::chrono::steady_clock;
    // Often enough for Ctrl-C and a progress display, too seldom to cost anything.
    static constexpr std::chrono::milliseconds question_interval{50};

    const Limits& limits_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point next_question_ = start_ + question_interval;
    std::optional<Status> reason_;
    std::atomic<bool> is_stopped_{false};
};

/// A way to stop a long computation from inside. Workers only look at the flag; the calling thread
/// has a progress to poll with.
struct Interrupt {
    Control& control;
    const Progress* progress = nullptr;

    bool is_requested() const {
        if (progress != nullptr) control.poll(*progress);
        return control.is_stopped();
    }
};

}  // namespace rulesearch

// A few threads that work through a list together.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace rulesearch {

/// Runs `work(worker, item)` for all items of a list; the calling thread is worker 0. Threads start
/// with the first list that has something for them to do and sleep between lists.
class Workers {
  public:
    using Work = std::function<void(std::size_t worker, std::size_t item)>;

    explicit Workers(std::size_t n_workers) : n_workers_(n_workers) {}
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    ~Workers() {
        {
            const std::lock_guard lock(mutex_);
            is_closing_ = true;
        }
        list_is_ready_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    /// Returns when all items are done; calls `meanwhile` from time to time while it waits for the
    /// other threads. What `work` throws on any thread is thrown again here.
    void run(std::size_t n_items, const Work& work, const std::function<void()>& meanwhile) {
        if (n_workers_ == 1 || n_items <= 1) {
            for (std::size_t item = 0; item < n_items; ++item) work(0, item);
            return;
        }
        start_threads();
        {
            const std::lock_guard lock(mutex_);
            work_ = &work;
            n_items_ = n_items;
            next_item_ = 0;
            n_busy_ = threads_.size();
            ++list_number_;
        }
        list_is_ready_.notify_all();
        take_items(0);
        std::unique_lock lock(mutex_);
        while (!list_is_done_.wait_for(lock, patience, [&] { return n_busy_ == 0; })) {
            lock.unlock();
            meanwhile();
            lock.lock();
        }
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

  private:
    static constexpr std::chrono::milliseconds patience{20};

    /// As many as the system has left, which may be none.
    void start_threads() {
        try {
            while (threads_.size() + 1 < n_workers_)
                threads_.emplace_back([this, worker = threads_.size() + 1] { serve(worker); });
        } catch (const std::system_error&) {
            n_workers_ = threads_.size() + 1;
        }
    }

    void take_items(std::size_t worker) {
        try {
            for (std::size_t item; (item = next_item_.fetch_add(1)) < n_items_;)
                (*work_)(worker, item);
        } catch (...) {
            next_item_ = n_items_;
            const std::lock_guard lock(mutex_);
            failure_ = std::current_exception();
        }
    }

    void serve(std::size_t worker) {
        for (std::size_t last_list = 0;;) {
            {
                std::unique_lock lock(mutex_);
                list_is_ready_.wait(lock, [&] { return is_closing_ || list_number_ != last_list; });
                if (is_closing_) return;
                last_list = list_number_;
            }
            take_items(worker);
            const std::lock_guard lock(mutex_);
            if (--n_busy_ == 0) list_is_done_.notify_one();
        }
    }

    std::size_t n_workers_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable list_is_ready_, list_is_done_;
    const Work* work_ = nullptr;
    std::size_t n_items_ = 0;
    std::atomic<std::size_t> next_item_{0};
    std::size_t n_busy_ = 0;
    std::size_t list_number_ = 0;
    bool is_closing_ = false;
    std::exception_ptr failure_;
};

}  // namespace rulesearch

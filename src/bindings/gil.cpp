#include "bindings/gil.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace interpreter_exit {

namespace {

std::atomic<bool> has_begun = false;
std::atomic<int> n_queued = 0;
std::thread::id exiting_thread;  // read only after `has_begun`

}  // namespace

void begin_exit() {
    exiting_thread = std::this_thread::get_id();
    has_begun = true;
    // Not for ever: in a forked process, threads that were queued at the fork do not exist.
    for (int attempt = 0; attempt < 1000 && n_queued > 0; ++attempt) {
        PyThreadState* state = PyEval_SaveThread();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        PyEval_RestoreThread(state);
    }
}

bool leaves_this_thread() { return has_begun && std::this_thread::get_id() != exiting_thread; }

void wait_for_end() {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

Queued::Queued() {
    ++n_queued;  // before the question, so that `begin_exit` waits, or the answer is yes
    if (leaves_this_thread()) {
        --n_queued;
        wait_for_end();
    }
}

Queued::~Queued() { --n_queued; }

}  // namespace interpreter_exit

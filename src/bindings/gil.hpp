// The GIL, for threads that may still run when the interpreter exits.
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

/// Until version 3.14, Python ends daemon threads that want the GIL during its exit by unwinding
/// their stack. In C++ this ends the whole process, as destructors and `catch (...)` are on the
/// way. Threads that come for the GIL after `begin_exit` wait here for the end of the process
/// instead, as with newer versions of Python.
namespace interpreter_exit {

/// Registered with `atexit`, in a thread that keeps the right to take the GIL. Threads that wait
/// for the GIL already get it before this returns.
void begin_exit();

/// Whether the exit has begun, and this is another thread than the one that exits.
bool leaves_this_thread();

/// Does not return.
[[noreturn]] void wait_for_end();

/// A visit to the GIL's queue: exists while a thread may be waiting for it.
class Queued {
  public:
    Queued();
    ~Queued();
    Queued(const Queued&) = delete;
    Queued& operator=(const Queued&) = delete;
};

}  // namespace interpreter_exit

/// Releases the GIL while it exists.
class NoGil {
  public:
    NoGil() : state_(PyEval_SaveThread()) {}
    ~NoGil() {
        const interpreter_exit::Queued queued;
        PyEval_RestoreThread(state_);
    }
    NoGil(const NoGil&) = delete;
    NoGil& operator=(const NoGil&) = delete;

  private:
    PyThreadState* state_;
};

/// Holds the GIL while it exists.
class WithGil {
  public:
    WithGil() {
        const interpreter_exit::Queued queued;
        state_ = PyGILState_Ensure();
    }
    ~WithGil() { PyGILState_Release(state_); }
    WithGil(const WithGil&) = delete;
    WithGil& operator=(const WithGil&) = delete;

  private:
    PyGILState_STATE state_;
};

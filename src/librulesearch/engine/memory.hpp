// The memory that open nodes take.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace rulesearch {

/// Takes bytes off an account when it goes.
class MemoryCharge {
  public:
    MemoryCharge() = default;
    MemoryCharge(std::shared_ptr<std::size_t> account, std::size_t n_bytes)
        : account_(std::move(account)), n_bytes_(n_bytes) {
        *account_ += n_bytes_;
    }
    MemoryCharge(const MemoryCharge&) = delete;
    MemoryCharge& operator=(const MemoryCharge&) = delete;
    MemoryCharge& operator=(MemoryCharge&& other) noexcept {
        std::swap(account_, other.account_);
        std::swap(n_bytes_, other.n_bytes_);
        return *this;
    }
    ~MemoryCharge() {
        if (account_) *account_ -= n_bytes_;
    }

  private:
    std::shared_ptr<std::size_t> account_;
    std::size_t n_bytes_ = 0;
};

/// Bytes that open nodes, and what several of them share, take and may take.
class MemoryAccount {
  public:
    explicit MemoryAccount(std::size_t limit) : limit_(limit) {}

    std::size_t limit() const { return limit_; }
    std::size_t used() const { return *used_; }
    void add(std::size_t n_bytes) { *used_ += n_bytes; }
    void subtract(std::size_t n_bytes) { *used_ -= n_bytes; }
    /// Bytes that count as long as the charge lives, which may be longer than the account.
    MemoryCharge charge(std::size_t n_bytes) const { return {used_, n_bytes}; }

  private:
    std::size_t limit_;
    std::shared_ptr<std::size_t> used_ = std::make_shared<std::size_t>(0);
};

}  // namespace rulesearch

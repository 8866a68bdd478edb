// A file of the simulated disk. Only sim_store.cpp makes it.

#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "support/sim_store.hpp"

namespace forebay::test {

inline Error problem(ErrorKind kind, const char* call, const std::string& path, const char* what) {
    return {kind, std::string(call) + ": " + path + ": " + what + " (simulated disk)"};
}

class SimFile final : public sys::File {
public:
    SimFile(SimStore& store, NodePtr node, std::string path, int writer, bool writable, bool direct)
        : store_(store),
          node_(std::move(node)),
          path_(std::move(path)),
          boot_(store.boots_),
          writer_(writer),
          writable_(writable),
          direct_(direct) {}

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        std::unique_lock lock(store_.mutex_);
        FB_TRY(alive());
        const auto begun = store_.begin(Op::write, lock);
        if (begun || !store_.crashed_now()) {
            FB_TRY(may_write(offset, bytes));
            const auto kept = begun ? bytes : bytes.first(store_.short_write(bytes.size()));
            store_.disk_.write(*node_, offset, kept, writer_);
            store_.bytes_written_ += kept.size();
        }
        return begun;
    }

    Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override {
        std::unique_lock lock(store_.mutex_);
        FB_TRY(begin(Op::read, lock));
        if (offset > node_->bytes.size() || bytes.size() > node_->bytes.size() - offset)
            return problem(ErrorKind::corrupt, "read", path_, "truncated");
        std::copy_n(node_->bytes.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
        return {};
    }

    Result<std::uint64_t> size() override {
        std::unique_lock lock(store_.mutex_);
        FB_TRY(begin(Op::size, lock));
        return std::uint64_t{node_->bytes.size()};
    }

    Result<> truncate(std::uint64_t size) override {
        std::unique_lock lock(store_.mutex_);
        FB_TRY(begin(Op::truncate, lock));
        if (!writable_) return problem(ErrorKind::broken, "truncate", path_, "opened for reading");
        store_.disk_.cut(*node_, size, writer_);
        return {};
    }

    void reserve(std::uint64_t offset, std::uint64_t bytes) override {
        std::unique_lock lock(store_.mutex_);
        if (begin(Op::reserve, lock) && writable_ && node_->bytes.size() < offset + bytes)
            store_.disk_.cut(*node_, offset + bytes, writer_);
    }

    Result<> sync() override {
        std::unique_lock lock(store_.mutex_);
        FB_TRY(alive());
        const auto begun = store_.begin(Op::sync, lock);
        if (begun && sync_failed_) return problem(ErrorKind::retry, "sync", path_, "a sync failed before");
        if (begun) {
            store_.disk_.sync_file(*node_, writer_);
        } else if (!store_.crashed_now()) {
            sync_failed_ = true;
            store_.disk_.write_off(*node_, writer_);
        }
        return begun;
    }

    bool direct() const override { return direct_; }

    Result<> close() override {
        std::unique_lock lock(store_.mutex_);
        if (closed_) return {};
        FB_TRY(begin(Op::close, lock));
        closed_ = true;
        return {};
    }

private:
    Result<> alive() const {
        if (closed_) return problem(ErrorKind::broken, "file call", path_, "closed before");
        if (boot_ != store_.boots_) return problem(ErrorKind::broken, "file call", path_, "opened before the reboot");
        return {};
    }

    Result<> begin(Op kind, std::unique_lock<std::mutex>& lock) {
        FB_TRY(alive());
        return store_.begin(kind, lock);
    }

    Result<> may_write(std::uint64_t offset, std::span<const std::byte> bytes) const {
        if (!writable_) return problem(ErrorKind::broken, "write", path_, "opened for reading");
        const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
        if (direct_ && ((offset | address | bytes.size()) & (limits::page_bytes - 1)) != 0)
            return problem(ErrorKind::broken, "write", path_, "not aligned for direct writing");
        return {};
    }

    SimStore& store_;
    const NodePtr node_;
    const std::string path_;
    const int boot_;
    const int writer_;
    const bool writable_;
    const bool direct_;
    bool closed_ = false;
    bool sync_failed_ = false;
};

}  // namespace forebay::test

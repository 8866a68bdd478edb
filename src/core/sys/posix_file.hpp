// File over a descriptor. For sys/posix_*.cpp only.

#pragma once

#include <atomic>
#include <string>

#include "core/sys/posix_fd.hpp"
#include "core/sys/store.hpp"

namespace forebay::sys {

class PosixFile final : public File {
public:
    /// `from_storage`: reads come from storage, not from this machine's cache, even if the file is not `direct`.
    PosixFile(Fd fd, std::string path, bool direct, bool from_storage = false)
        : fd_(std::move(fd)), path_(std::move(path)), from_storage_(from_storage), direct_(direct) {
        if (from_storage_) forget_cached();
    }

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override;
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override;
    Result<std::uint64_t> size() override;
    Result<> truncate(std::uint64_t size) override;
    void reserve(std::uint64_t offset, std::uint64_t bytes) override;
    Result<> sync() override;
    bool direct() const override { return direct_.load(std::memory_order_relaxed); }
    StripeMap stripes() override;
    Result<> close() override;

private:
    Result<> go_on_buffered();
    /// Fills `bytes` by repeated calls. Returns how many bytes there were up to the file's end.
    Result<std::uint64_t> read_up_to_end(std::uint64_t offset, std::span<std::byte> bytes);
    Result<std::uint64_t> read_by_pages(std::uint64_t offset, std::span<std::byte> bytes);
    void forget_cached() const;
    void start_write_back(std::uint64_t offset, std::uint64_t bytes);

    Fd fd_;
    const std::string path_;
    const bool from_storage_;
    std::atomic<bool> direct_;
    // errno of the first failed fdatasync. The kernel reports a lost write-back once and then calls the pages clean, so
    // a second sync would succeed without the bytes.
    std::atomic<int> sync_failed_{0};
};

}  // namespace forebay::sys

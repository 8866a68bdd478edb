#include "path/agent/timed_store.hpp"

#include <mutex>
#include <utility>

#include "core/sys/passing_store.hpp"

namespace forebay::agent {

namespace {

// Smaller writes are manifests, names and events.
constexpr std::uint64_t timed_bytes_min = 4096;
// This many writes are passed on before the file is synced: a sixteenth of a terabyte drain in blocks of 16 MiB.
constexpr std::size_t writes_untold_max = 4096;

class TimedFile final : public sys::PassingFile {
public:
    TimedFile(std::unique_ptr<sys::File> file, TimingSink& sink) : PassingFile(std::move(file)), sink_(sink) {}
    TimedFile(const TimedFile&) = delete;
    TimedFile& operator=(const TimedFile&) = delete;
    ~TimedFile() override { tell(); }

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        const auto start = sys::Clock::now();
        auto wrote = file_->write(offset, bytes);
        if (bytes.size() >= timed_bytes_min)
            keep({start, sys::Clock::now() - start, offset, bytes.size(), !wrote.has_value()});
        return wrote;
    }
    Result<> sync() override {
        tell();
        const auto start = sys::Clock::now();
        auto synced = file_->sync();
        sink_.synced(start, sys::Clock::now() - start, !synced.has_value());
        return synced;
    }
    Result<> close() override {
        tell();
        return file_->close();
    }

private:
    void keep(const TimingSink::Write& write) {
        const std::unique_lock lock(alone_);
        writes_.push_back(write);
        // Bounds the memory of a large file.
        if (writes_.size() >= writes_untold_max) tell_locked();
    }
    void tell() {
        const std::unique_lock lock(alone_);
        tell_locked();
    }
    // The layout is read after the writes: a file with several layouts gets each layout when it grows into it.
    void tell_locked() {
        if (writes_.empty()) return;
        sink_.wrote(writes_, file_->stripes());
        writes_.clear();
    }

    TimingSink& sink_;
    std::mutex alone_;
    std::vector<TimingSink::Write> writes_;
};

class TimedStore final : public sys::PassingStore {
public:
    TimedStore(sys::Store& store, TimingSink& sink) : PassingStore(store), sink_(sink) {}

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
        auto file = PassingStore::open(path, access);
        if (!file || !sys::is_writing(access)) return file;
        return std::unique_ptr<sys::File>(std::make_unique<TimedFile>(std::move(*file), sink_));
    }

private:
    TimingSink& sink_;
};

}  // namespace

std::unique_ptr<sys::Store> timed(sys::Store& store, TimingSink& sink) {
    return std::make_unique<TimedStore>(store, sink);
}

}  // namespace forebay::agent

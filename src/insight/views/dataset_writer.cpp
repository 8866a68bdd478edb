#include "insight/views/dataset_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>

#include "core/base/try.hpp"
#include "core/sys/thread.hpp"

namespace forebay::views {

namespace {

using Targets = std::span<const DatasetTarget>;

/// The first target that ends after `offset`.
Targets::iterator target_at(Targets targets, std::uint64_t offset) {
    return std::ranges::upper_bound(targets, offset, {},
                                    [](const DatasetTarget& target) { return target.offset_bytes + target.bytes; });
}

}  // namespace

struct CopyWindow {
    std::uint64_t begin = 0, end = 0;  // in the file
};

/// Splits a stretch of the file into windows, to be written in any order. Use from one thread at a time.
class CopyWindows {
public:
    CopyWindows(Targets targets, std::uint64_t window_bytes, std::uint64_t begin, std::uint64_t end)
        : targets_(targets), window_bytes_(window_bytes), next_(begin), end_(end) {}

    /// The next window with bytes of targets, up to a multiple of `window_bytes`; nothing after the last window.
    std::optional<CopyWindow> take() {
        const auto target = target_at(targets_, next_);
        const auto begin = target == targets_.end() ? end_ : std::max(next_, target->offset_bytes);
        if (begin >= end_) {
            next_ = end_;
            return std::nullopt;
        }
        next_ = std::min((begin / window_bytes_ + 1) * window_bytes_, end_);
        begun_.insert(begin);
        return CopyWindow{begin, next_};
    }

    /// Marks `window` as written. Returns the offset below which the whole stretch is written.
    std::uint64_t finish(const CopyWindow& window) {
        begun_.erase(window.begin);
        return begun_.empty() ? next_ : *begun_.begin();
    }

private:
    const Targets targets_;
    const std::uint64_t window_bytes_;
    std::uint64_t next_;
    const std::uint64_t end_;
    std::set<std::uint64_t> begun_;  // of windows not yet written
};

/// One call of run(), shared by its threads.
class DatasetWriter::Run {
public:
    Run(DatasetWriter& writer, std::uint64_t begin, std::uint64_t end, const Reached& reached)
        : writer_(writer),
          reached_(reached),
          write_options_{.block_bytes = writer.options_.window_bytes,
                         .in_flight = writer.options_.threads,
                         .rate_bytes_per_second = writer.options_.rate_bytes_per_second},
          flow_(write_options_, writer.options_.stop),
          windows_(writer.targets_, writer.options_.window_bytes, begin, end) {}

    void work() {
        try {
            DatasetSource source(writer_.nodes_, writer_.options_.read_bytes);
            // No exception may leave the thread.
            PageBuffer buffer;
            while (const auto window = take()) {
                const auto done = copy(*window, source, buffer);
                if (!done) fail(window->begin, done.error());
                else finish(*window);
            }
            const std::lock_guard lock(mutex_);
            copied_.bytes_read += source.bytes_read();
        } catch (const std::exception& thrown) {
            fail(0, {ErrorKind::broken, fmt::format("copying for an export: {}", thrown.what())});
        }
    }

    Result<Copied> outcome() const {
        if (error_) return *error_;
        return copied_;
    }

private:
    std::optional<CopyWindow> take() {
        const std::lock_guard lock(mutex_);
        if (error_) return std::nullopt;
        if (flow_.stopped()) {
            error_ = Error{ErrorKind::retry, "stopped on request"};
            return std::nullopt;
        }
        return windows_.take();
    }

    Result<> copy(const CopyWindow& window, DatasetSource& source, PageBuffer& buffer) {
        const auto bytes = buffer.take(window.end - window.begin);
        // Adjacent data are written in one piece; the gaps between datasets stay untouched.
        CopyWindow piece{window.begin, window.begin};
        const auto write = [&]() -> Result<> {
            if (piece.begin == piece.end) return {};
            writes_.fetch_add(1, std::memory_order_relaxed);
            return flow_.write(
                writer_.file_, piece.begin, bytes.subspan(piece.begin - window.begin, piece.end - piece.begin),
                [] { return true; }, &written_);
        };
        const auto targets = writer_.targets_;
        for (auto target = target_at(targets, window.begin);
             target != targets.end() && target->offset_bytes < window.end; ++target) {
            const auto begin = std::max(window.begin, target->offset_bytes);
            const auto end = std::min(window.end, target->offset_bytes + target->bytes);
            FB_TRY(
                source.load(*target, begin - target->offset_bytes, bytes.subspan(begin - window.begin, end - begin)));
            if (begin != piece.end) {
                FB_TRY(write());
                piece.begin = begin;
            }
            piece.end = end;
        }
        return write();
    }

    void finish(const CopyWindow& window) {
        const std::lock_guard reporting(reporting_);
        std::uint64_t offset = 0;
        {
            const std::lock_guard lock(mutex_);
            offset = windows_.finish(window);
            copied_.bytes_written = written_.load(std::memory_order_relaxed);
            copied_.writes = writes_.load(std::memory_order_relaxed);
            if (error_) return;
        }
        if (!reached_) return;
        if (const auto went = reached_(offset, copied_.bytes_written); !went) fail(0, went.error());
    }

    void fail(std::uint64_t offset, const Error& error) {
        const std::lock_guard lock(mutex_);
        // The error at the lowest offset wins, in any order of the threads.
        if (error_ && failed_at_ <= offset) return;
        error_ = error;
        failed_at_ = offset;
    }

    DatasetWriter& writer_;
    const Reached& reached_;
    const move::WriteOptions write_options_;
    move::Flow flow_;
    std::atomic<std::uint64_t> written_{0}, writes_{0};

    std::mutex reporting_;  // held during the caller's callback; lock it before the other
    std::mutex mutex_;      // guards the members below
    CopyWindows windows_;
    Copied copied_;
    std::optional<Error> error_;
    std::uint64_t failed_at_ = 0;
};

Result<Copied> DatasetWriter::run(std::uint64_t begin, std::uint64_t end, const Reached& reached) {
    Run run(*this, begin, end, reached);
    sys::work_together(static_cast<std::uint64_t>(options_.threads), [&run] { run.work(); });
    return run.outcome();
}

}  // namespace forebay::views

#include "views/dataset_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>

#include "sys/thread.hpp"

namespace forebay::views {

namespace {

struct CopyWindow {
    std::uint64_t begin = 0, end = 0;  // in the file
};

}  // namespace

/// One call of run(), shared by its threads.
class DatasetWriter::Run {
public:
    Run(DatasetWriter& writer, std::uint64_t begin, std::uint64_t end, const Reached& reached)
        : file_(writer.file_),
          targets_(writer.targets_),
          nodes_(writer.nodes_),
          options_(writer.options_),
          reached_(reached),
          write_options_{.block_bytes = options_.window_bytes,
                         .in_flight = options_.threads,
                         .rate_bytes_per_second = options_.rate_bytes_per_second},
          flow_(write_options_, options_.stop),
          next_(begin),
          end_(end) {}

    void work() {
        try {
            DatasetSource source(nodes_, options_.read_bytes);
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
    /// The first target that ends behind `offset`.
    std::span<const DatasetTarget>::iterator target_at(std::uint64_t offset) const {
        return std::ranges::upper_bound(targets_, offset, {},
                                        [](const DatasetTarget& target) { return target.offset_bytes + target.bytes; });
    }

    std::optional<CopyWindow> take() {
        const std::lock_guard lock(mutex_);
        if (error_) return std::nullopt;
        if (flow_.stopped()) {
            error_ = Error{ErrorKind::retry, "stopped on request"};
            return std::nullopt;
        }
        const auto target = target_at(next_);
        const auto begin = target == targets_.end() ? end_ : std::max(next_, target->offset_bytes);
        if (begin >= end_) {
            next_ = end_;
            return std::nullopt;
        }
        next_ = std::min((begin / options_.window_bytes + 1) * options_.window_bytes, end_);
        begun_.insert(begin);
        return CopyWindow{begin, next_};
    }

    Result<> copy(const CopyWindow& window, DatasetSource& source, PageBuffer& buffer) {
        const auto bytes = buffer.take(window.end - window.begin);
        // What lies side by side in the file is written in one piece; room between datasets is left as it is.
        CopyWindow piece{window.begin, window.begin};
        const auto write = [&]() -> Result<> {
            if (piece.begin == piece.end) return {};
            writes_.fetch_add(1, std::memory_order_relaxed);
            return flow_.write(
                file_, piece.begin, bytes.subspan(piece.begin - window.begin, piece.end - piece.begin),
                [] { return true; }, &written_);
        };
        for (auto target = target_at(window.begin); target != targets_.end() && target->offset_bytes < window.end;
             ++target) {
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
            begun_.erase(window.begin);
            offset = begun_.empty() ? next_ : *begun_.begin();
            copied_.bytes_written = written_.load(std::memory_order_relaxed);
            copied_.writes = writes_.load(std::memory_order_relaxed);
            if (error_) return;
        }
        if (!reached_) return;
        if (const auto went = reached_(offset, copied_.bytes_written); !went) fail(0, went.error());
    }

    void fail(std::uint64_t offset, const Error& error) {
        const std::lock_guard lock(mutex_);
        if (error_ && failed_at_ <= offset) return;
        error_ = error;
        failed_at_ = offset;
    }

    sys::File& file_;
    const std::span<const DatasetTarget> targets_;
    OpenNodes& nodes_;
    const CopyOptions& options_;
    const Reached& reached_;
    const move::WriteOptions write_options_;
    move::Flow flow_;
    std::atomic<std::uint64_t> written_{0}, writes_{0};

    std::mutex reporting_;  // held while the caller is told; taken before the other
    std::mutex mutex_;      // guards what follows
    std::uint64_t next_;
    const std::uint64_t end_;
    std::set<std::uint64_t> begun_;  // of windows that are not written yet
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

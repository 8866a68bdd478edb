// Copies the blocks of one node file into the output files, with several threads. A job is one record of one rank.
// Without compression the place of each block is known, and a block streams through a window of rows. With compression
// a block is packed in memory first. Places are then assigned in the order of the jobs (Shared::in_turn), so that equal
// snapshots give equal files. GenericIO stores records by rows and Forebay by columns, so rows() interleaves.

#include "insight/foreign/genericio/copy.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>

#include "core/base/crc64.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/codec/codec.hpp"
#include "core/sys/thread.hpp"
#include "insight/foreign/genericio/encode.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::foreign::genericio {

namespace {

constexpr auto segment_bytes = forebay::limits::segment_bytes;

// State shared by the threads.
class Shared {
public:
    explicit Shared(const std::function<void(std::uint64_t)>& done) : done_(done) {}

    void report(std::uint64_t bytes) {
        const std::lock_guard lock(mutex_);
        done_(bytes);
    }
    void fail(const Error& error) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = error;
        turned_.notify_all();
    }
    bool failed() {
        const std::lock_guard lock(mutex_);
        return error_.has_value();
    }
    std::optional<Error> error() {
        const std::lock_guard lock(mutex_);
        return error_;
    }
    /// Runs `act` in the order of the jobs. False if another thread failed.
    bool in_turn(std::size_t job, const std::function<void()>& act) {
        std::unique_lock lock(mutex_);
        turned_.wait(lock, [&] { return turn_ == job || error_; });
        if (error_) return false;
        act();
        ++turn_;
        turned_.notify_all();
        return true;
    }
    std::atomic<std::size_t> next{0};

private:
    const std::function<void(std::uint64_t)>& done_;
    std::mutex mutex_;
    std::condition_variable turned_;
    std::optional<Error> error_;
    std::size_t turn_ = 0;
};

class Worker {
public:
    Worker(const catalog::BlockReader& node, std::span<const GioRecord> records, std::span<GioOutput> outputs,
           std::span<const Destined> ranks, const GioExportOptions& options, Shared& shared)
        : node_(node), records_(records), outputs_(outputs), ranks_(ranks), options_(options), shared_(shared) {}

    void run() {
        // No exception may leave the thread.
        const auto jobs = node_.head().ranks.size() * records_.size();
        try {
            for (auto job = shared_.next++; job < jobs && !shared_.failed(); job = shared_.next++)
                if (auto copied = copy(job); !copied) return shared_.fail(copied.error());
        } catch (const std::bad_alloc&) {
            shared_.fail({ErrorKind::full, "there is not enough memory to export", "", "use fewer --threads"});
        }
    }

private:
    struct Job {
        std::size_t number = 0;
        std::size_t place = 0;  // of the rank, in the node
        const GioRecord* record = nullptr;
        GioOutput* output = nullptr;
        std::size_t rank = 0, variable = 0;  // in the output
        std::uint64_t bytes = 0;
    };

    Result<> copy(std::size_t number) {
        Job job{.number = number, .place = number / records_.size(), .variable = number % records_.size()};
        job.record = &records_[job.variable];
        const auto rank = node_.head().ranks[job.place];
        job.output = &outputs_[ranks_[rank].output];
        job.rank = ranks_[rank].rank;
        job.bytes = node_.head().blocks[block_of(node_, job.record->columns.front(), job.place)].size_bytes *
                    job.record->columns.size();
        if (!options_.compress) return stream(job, job.output->header.block(job.rank, job.variable).stored.offset);
        return compress(job);
    }

    // The most bytes of a column in memory at once.
    std::uint64_t column_window(const GioRecord& record) const {
        const auto columns = record.columns.size();
        // A record of several columns is in memory twice: as columns, and interleaved.
        const auto share = options_.memory_bytes / static_cast<std::uint64_t>(options_.threads) /
                           (columns == 1 ? 1 : 2 * columns) / segment_bytes;
        return std::clamp<std::uint64_t>(share, 1, 8) * segment_bytes;
    }

    /// Reads `bytes` bytes of each column of the record from byte `at` on, interleaved as in the file.
    Result<std::span<std::byte>> rows(const Job& job, std::uint64_t at, std::uint64_t bytes) {
        const auto& record = *job.record;
        const auto columns = record.columns.size(), width = std::size_t{record.type.size_bytes};
        records_buffer_.resize(bytes * columns);
        if (columns > 1) column_buffer_.resize(bytes);
        for (std::size_t c = 0; c < columns; ++c) {
            const auto column = std::span(columns > 1 ? column_buffer_ : records_buffer_).first(bytes);
            FB_TRY(node_.read(block_of(node_, record.columns[c], job.place), at, column, scratch_));
            if (columns == 1) break;
            for (std::size_t row = 0; row < bytes / width; ++row)
                std::memcpy(records_buffer_.data() + (row * columns + c) * width, column.data() + row * width, width);
        }
        if (options_.big_endian) {
            const auto element = record.variable.element_bytes;
            for (std::size_t i = 0; element > 1 && i < records_buffer_.size(); i += element)
                std::reverse(records_buffer_.data() + i, records_buffer_.data() + i + element);
        }
        return std::span(records_buffer_);
    }

    Result<> stream(const Job& job, std::uint64_t to) {
        const auto columns = job.record->columns.size(), bytes = job.bytes / columns;
        const auto window = column_window(*job.record);
        std::uint64_t crc = 0;
        for (std::uint64_t at = 0; at < bytes; at += window) {
            if (shared_.failed()) return {};
            FB_TRY_ASSIGN(now, rows(job, at, std::min(window, bytes - at)));
            crc = crc64(now, crc);
            FB_TRY(job.output->file->write(to + at * columns, now));
            shared_.report(now.size());
        }
        return job.output->file->write(to + job.bytes, trailer(crc));
    }

    Result<> compress(const Job& job) {
        std::size_t packed_bytes = 0;
        if (job.bytes > 0 && job.bytes <= limits::blosc_bytes_max) {
            FB_TRY_ASSIGN(packed, pack(job));
            packed_bytes = packed;
        }
        Range place;
        const auto give = [&] {
            auto& header = job.output->header;
            const auto i = job.rank * header.variables.size() + job.variable;
            place = {job.output->end, packed_bytes > 0 ? packed_bytes : job.bytes};
            header.stored[i] = place;
            header.filter_of[i] = packed_bytes > 0 ? 1 : 0;
            if (job.variable == 0) header.ranks[job.rank].start = place.offset;
            job.output->end = place.end() + crc_bytes;
        };
        // Only the place is given in turn; the writes need no order.
        if (!shared_.in_turn(job.number, give)) return {};
        // Data that do not shrink are stored unchanged and read again, so they need not fit memory.
        if (packed_bytes == 0) return stream(job, place.offset);
        const auto packed = std::span<const std::byte>(packed_).first(packed_bytes);
        FB_TRY(job.output->file->write(place.offset, packed));
        shared_.report(job.bytes);
        return job.output->file->write(place.end(), trailer(crc64(packed)));
    }

    /// Packs the block, after its checksum, into packed_. Returns 0 if that would not be smaller.
    Result<std::size_t> pack(const Job& job) {
        const auto columns = job.record->columns.size(), bytes = job.bytes / columns;
        const auto window = column_window(*job.record);
        plain_.resize(job.bytes);
        for (std::uint64_t at = 0; at < bytes; at += window) {
            FB_TRY_ASSIGN(now, rows(job, at, std::min(window, bytes - at)));
            std::memcpy(plain_.data() + at * columns, now.data(), now.size());
        }
        // No larger than the plain bytes: otherwise compression does not pay.
        packed_.resize(job.bytes);
        if (job.bytes <= crc_bytes) return std::size_t{0};
        auto crc = crc64(plain_);
        if (options_.big_endian) std::reverse(reinterpret_cast<char*>(&crc), reinterpret_cast<char*>(&crc + 1));
        std::memcpy(packed_.data(), &crc, sizeof crc);
        const auto frame =
            codec::encode_blosclz(job.record->variable.record_bytes, plain_, std::span(packed_).subspan(crc_bytes));
        return frame == 0 ? 0 : frame + crc_bytes;
    }

    const catalog::BlockReader& node_;
    std::span<const GioRecord> records_;
    std::span<GioOutput> outputs_;
    std::span<const Destined> ranks_;
    const GioExportOptions& options_;
    Shared& shared_;
    std::vector<std::byte> records_buffer_, column_buffer_, plain_, packed_;
    catalog::BlockReader::Scratch scratch_;
};

}  // namespace

Result<> copy_node(const catalog::BlockReader& node, std::span<const GioRecord> records, std::span<GioOutput> outputs,
                   std::span<const Destined> ranks, const GioExportOptions& options,
                   const std::function<void(std::uint64_t)>& done) {
    if (records.empty()) return {};
    Shared shared(done);
    // Each thread holds at least a segment of each column of a record.
    std::uint64_t columns = 1;
    for (const auto& record : records) columns = std::max<std::uint64_t>(columns, record.columns.size());
    auto own = options;
    own.threads = static_cast<int>(std::clamp<std::uint64_t>(options.memory_bytes / ((columns + 1) * segment_bytes), 1,
                                                             static_cast<std::uint64_t>(options.threads)));
    sys::work_together(static_cast<std::uint64_t>(own.threads),
                       [&] { Worker(node, records, outputs, ranks, own, shared).run(); });
    if (const auto error = shared.error()) return *error;
    return {};
}

}  // namespace forebay::foreign::genericio

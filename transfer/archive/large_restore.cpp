// A large file of an archive. All threads read its pieces, checksum them and write them. The file gets its name when
// the checksum of all is right.

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "transfer/archive/restorer.hpp"
#include "transfer/archive/stored.hpp"
#include "transfer/copy/file_data.hpp"
#include "transfer/copy/make_file.hpp"

namespace forebay::archive {

namespace {

constexpr std::uint64_t restored_piece_bytes = 16u << 20;  // about 10 ms of copying

class LargeRestore : public std::enable_shared_from_this<LargeRestore> {
public:
    LargeRestore(Restorer& restorer, FoundMember archived) : restorer_(restorer), archived_(std::move(archived)) {}

    void begin(tree::TreeWorker& worker) { report(try_begin(worker)); }
    /// False: begin() does all the work.
    bool waits() const { return !archived_.has_large_head(); }

private:
    Result<> try_begin(tree::TreeWorker& worker);
    void report(const Result<>& done) {
        if (!done) restorer_.parts.failures.report(member().path, done.error());
    }
    void take_piece(tree::TreeWorker& worker, std::uint64_t index);
    Result<> try_piece(tree::TreeWorker& worker, std::uint64_t index);
    Result<std::uint32_t> copy(tree::TreeWorker& worker, std::uint64_t stored_begin, std::uint64_t stored_end,
                               std::uint64_t file_offset);
    Result<> end(tree::TreeWorker& worker);
    const Member& member() const { return archived_.member; }
    std::uint64_t data_bytes() const { return member().stored_bytes - member().map_bytes; }

    Restorer& restorer_;
    const FoundMember archived_;
    tree::CopyEntry entry_;
    std::optional<tree::TemporaryName> temporary_;
    std::optional<tree::NewEntry> new_file_;
    std::atomic<std::uint64_t> pieces_left_{0};
    std::vector<std::uint32_t> sums_;  // one for each piece
    std::mutex mutex_;                 // guards the members below
    Result<> failed_;
};

Result<> LargeRestore::try_begin(tree::TreeWorker& worker) {
    auto& parts = restorer_.parts;
    if (restorer_.restores()) {
        FB_TRY_ASSIGN(entry, restorer_.entry_of(worker, member().path));
        entry_ = std::move(entry);
        FB_TRY(settle_unread(parts.losses, parts.options.preserve, member()));
        new_file_.emplace(parts.maker.new_entry(entry_, member().status));
        FB_TRY(new_file_->make_file());
        temporary_.emplace(*entry_.target, new_file_->name());
    }
    const auto pieces = (data_bytes() + restored_piece_bytes - 1) / restored_piece_bytes;
    sums_.assign(pieces, 0);
    pieces_left_ = pieces + 1;  // one more for this call
    // In reverse: a worker takes its newest item first, so it reads the pieces in order.
    for (auto index = pieces; index > 0; --index) {
        if (waits())
            parts.share.add(worker, [self = shared_from_this(), at = index - 1](tree::TreeWorker& other) {
                self->take_piece(other, at);
            });
        else take_piece(worker, index - 1);
    }
    return --pieces_left_ == 0 ? end(worker) : Result<>();
}

void LargeRestore::take_piece(tree::TreeWorker& worker, std::uint64_t index) {
    if (auto taken = try_piece(worker, index); !taken) {
        const std::lock_guard lock(mutex_);
        if (failed_) failed_ = taken;
    }
    if (--pieces_left_ == 0) report(end(worker));
}

// In the order of the stored bytes: bytes between two parts are in no map, but in the checksum.
Result<> LargeRestore::try_piece(tree::TreeWorker& worker, std::uint64_t index) {
    {
        const std::lock_guard lock(mutex_);
        FB_TRY(failed_);  // the other pieces are useless now
    }
    const auto begin = index * restored_piece_bytes, end = std::min(begin + restored_piece_bytes, data_bytes());
    auto at = begin;
    std::uint32_t sum = 0;
    const auto add = [&](std::uint64_t until, std::uint64_t file_offset) -> Result<> {
        FB_TRY_ASSIGN(part_sum, copy(worker, at, until, file_offset));
        sum = crc32c_join(sum, part_sum, until - at);
        at = until;
        return {};
    };
    for (auto from = begin; from < end; from += tree::buffer_bytes)
        for (const auto& part : parts_of(member(), from, std::min(from + tree::buffer_bytes, end)))
            FB_TRY(add(part.stored + part.end - part.begin, part.begin));
    if (at < end) FB_TRY(add(end, UINT64_MAX));
    sums_[index] = sum;
    restorer_.parts.counts.passed_bytes += end - begin;
    return {};
}

// `file_offset` is UINT64_MAX for bytes that belong to no part.
Result<std::uint32_t> LargeRestore::copy(tree::TreeWorker& worker, std::uint64_t stored_begin, std::uint64_t stored_end,
                                         std::uint64_t file_offset) {
    const auto way = restorer_.parts.flow.way();
    worker.buffer.resize(std::max<std::size_t>(worker.buffer.size(), tree::buffer_bytes));
    std::uint32_t sum = 0;
    for (auto at = stored_begin; at < stored_end;) {
        const auto piece = std::min(way.pace->piece_bytes(tree::buffer_bytes), stored_end - at);
        if (!way.pace->wait_turn(piece, way.stop)) return Error{ErrorKind::retry, "stopped early"};
        const auto bytes = std::span(worker.buffer).first(piece);
        FB_TRY_ASSIGN(got, restorer_.file().read(archived_.stored_offset + member().map_bytes + at, bytes));
        if (got < piece) return Error{ErrorKind::corrupt, "the archive became shorter during the restore"};
        if (member().sum) sum = crc32c(bytes, sum);
        if (new_file_ && file_offset != UINT64_MAX)
            FB_TRY(new_file_->file().write(file_offset + at - stored_begin, bytes));
        at += piece;
        way.moved(piece);
    }
    return sum;
}

Result<> LargeRestore::end(tree::TreeWorker& worker) {
    FB_TRY(failed_);
    if (member().sum) {
        worker.buffer.resize(std::max<std::size_t>(worker.buffer.size(), member().map_bytes));
        const auto map = std::span(worker.buffer).first(member().map_bytes);
        FB_TRY_ASSIGN(got, restorer_.file().read(archived_.stored_offset, map));
        auto sum = crc32c(map.first(got));
        for (std::uint64_t index = 0; index < sums_.size(); ++index)
            sum = crc32c_join(sum, sums_[index],
                              std::min(restored_piece_bytes, data_bytes() - index * restored_piece_bytes));
        if (sum != *member().sum) return wrong_sum(archived_, sum);
    }
    if (!new_file_) return {};
    if (member().has_holes) FB_TRY(new_file_->file().resize(member().status.bytes));  // it may end with a hole
    auto& parts = restorer_.parts;
    FB_TRY(new_file_->name_file(worker, attributes_of(member(), parts.options.preserve), *temporary_));
    return {};
}

}  // namespace

void start_large_restore(Restorer& restorer, tree::TreeWorker& worker, FoundMember archived) {
    const auto restore = std::make_shared<LargeRestore>(restorer, std::move(archived));
    if (restore->waits())
        restorer.parts.share.add(worker, [restore](tree::TreeWorker& other) { restore->begin(other); });
    else restore->begin(worker);
}

}  // namespace forebay::archive

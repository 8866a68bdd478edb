// A source file too large for a packet. Its place in the archive is reserved at once, and all threads fill it in
// pieces. Its head with the checksum is written last. If the file changed meanwhile, the place is turned into bytes
// that readers skip, and a new place is filled.

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "transfer/archive/head.hpp"
#include "transfer/archive/maker.hpp"
#include "transfer/archive/stored.hpp"
#include "transfer/copy/copy_entry_log.hpp"
#include "transfer/copy/file_data.hpp"
#include "transfer/copy/settled.hpp"

namespace forebay::archive {

namespace {

constexpr std::uint64_t large_piece_bytes = 16u << 20;  // about 10 ms of copying

class LargeMember : public std::enable_shared_from_this<LargeMember> {
public:
    LargeMember(Maker& maker, tree::EntryPlace place, std::unique_ptr<sys::OpenFile> file, sys::EntryStatus status)
        : maker_(maker), place_(std::move(place)), file_(std::move(file)), first_(status), before_(status) {}

    void begin(tree::TreeWorker& worker);

private:
    Result<tree::CopyStep> reserve(tree::TreeWorker& worker);
    void copy_piece(tree::TreeWorker& worker, std::uint64_t index);
    Result<> try_piece(tree::TreeWorker& worker, std::uint64_t index);
    Result<> write_head();
    void end(tree::TreeWorker& worker);
    void conclude(tree::TreeWorker& worker, const Result<tree::CopyStep>& done);
    std::uint64_t data_bytes() const { return member_.stored_bytes - member_.map_bytes; }
    std::uint64_t all_bytes() const { return head_.bytes.size() + round_up(member_.stored_bytes, block_bytes); }

    Maker& maker_;
    const tree::EntryPlace place_;
    const std::unique_ptr<sys::OpenFile> file_;
    const sys::EntryStatus first_;
    sys::EntryStatus before_;
    int tries_ = 1;
    Member member_;
    Head head_;
    std::uint64_t offset_ = 0;  // place of the head
    std::atomic<std::uint64_t> pieces_left_{0};
    std::vector<std::uint32_t> sums_;  // one for each piece
    std::mutex mutex_;                 // guards the members below
    Result<> failed_;
};

void LargeMember::begin(tree::TreeWorker& worker) {
    const auto reserved = reserve(worker);
    if (!reserved || *reserved != tree::CopyStep::later) conclude(worker, reserved);
}

Result<tree::CopyStep> LargeMember::reserve(tree::TreeWorker& worker) {
    FB_TRY_ASSIGN(settled, tree::settled_status(*file_, before_));
    if (!settled) return tree::report_changes(maker_.parts.entry_log, path_of(*place_.dir_node, place_.name));
    before_ = *settled;
    FB_TRY_ASSIGN(member, maker_.describe(*file_, before_));
    member_ = std::move(member);
    member_.path = path_of(*place_.dir_node, place_.name);
    FB_TRY(find_stored(*file_, member_));
    head_ = encode_head(member_);
    offset_ = maker_.output->reserve(all_bytes());
    failed_ = {};
    const auto pieces = (data_bytes() + large_piece_bytes - 1) / large_piece_bytes;
    sums_.assign(pieces, 0);
    pieces_left_ = pieces + 1;  // one more for this call
    // In reverse: a worker takes its newest item first, so it reads the pieces in order.
    for (auto index = pieces; index > 0; --index)
        maker_.parts.share.add(worker, [self = shared_from_this(), at = index - 1](tree::TreeWorker& other) {
            self->copy_piece(other, at);
        });
    if (--pieces_left_ == 0) end(worker);
    return tree::CopyStep::later;
}

void LargeMember::copy_piece(tree::TreeWorker& worker, std::uint64_t index) {
    if (auto copied = try_piece(worker, index); !copied) {
        const std::lock_guard lock(mutex_);
        if (failed_) failed_ = copied;
    }
    if (--pieces_left_ == 0) end(worker);
}

Result<> LargeMember::try_piece(tree::TreeWorker& worker, std::uint64_t index) {
    {
        const std::lock_guard lock(mutex_);
        FB_TRY(failed_);  // the other pieces are useless now
    }
    const auto way = maker_.parts.flow.way();
    const auto begin = index * large_piece_bytes, end = std::min(begin + large_piece_bytes, data_bytes());
    const auto data_offset = offset_ + head_.bytes.size() + member_.map_bytes;
    std::uint32_t sum = 0;
    worker.buffer.resize(std::max<std::size_t>(worker.buffer.size(), tree::buffer_bytes));
    for (const auto& part : parts_of(member_, begin, end)) {
        for (auto at = part.begin; at < part.end;) {
            const auto piece = std::min(way.pace->piece_bytes(tree::buffer_bytes), part.end - at);
            if (!way.pace->wait_turn(piece, way.stop)) return Error{ErrorKind::retry, "stopped early"};
            const auto bytes = std::span(worker.buffer).first(piece);
            FB_TRY_ASSIGN(got, file_->read(at, bytes));
            if (got < piece) return tree::check_ended(*file_, at + got);
            sum = crc32c(bytes, sum);
            FB_TRY(maker_.output->write(data_offset + part.stored + at - part.begin, bytes));
            at += piece;
            way.moved(piece);
        }
    }
    sums_[index] = sum;
    maker_.parts.counts.passed_bytes += end - begin;
    return {};
}

Result<> LargeMember::write_head() {
    const auto map = map_of(member_);
    auto sum = crc32c(bytes_of(map));
    for (std::uint64_t index = 0; index < sums_.size(); ++index)
        sum = crc32c_join(sum, sums_[index], std::min(large_piece_bytes, data_bytes() - index * large_piece_bytes));
    const auto head = std::as_writable_bytes(std::span(head_.bytes));
    set_stored_sum(head, head_.sums_at, sum);
    const auto head_sum = set_place(head, head_.sums_at, offset_);
    FB_TRY(maker_.output->write(offset_, head));
    if (!map.empty()) FB_TRY(maker_.output->write(offset_ + head.size(), bytes_of(map)));
    maker_.output->count(offset_, head_sum);
    return {};
}

void LargeMember::end(tree::TreeWorker& worker) {
    const auto status = file_->status();
    const bool has_changed = status && !tree::is_unchanged(before_, *status);
    auto done = failed_;
    if (done && !status) done = status.error();
    if (done && !has_changed) done = write_head();
    if (done && !has_changed) return conclude(worker, tree::CopyStep::done);
    // A reserved place without a valid head would make the rest of the archive unreadable.
    if (const auto passed = maker_.output->pass_over(offset_, all_bytes(), maker_.root_head); !passed)
        maker_.parts.failures.end_by(passed.error());
    if (done && tries_++ < tree::copy_tries_max) {
        before_ = *status;
        return begin(worker);
    }
    if (done) return conclude(worker, tree::report_changes(maker_.parts.entry_log, member_.path));
    conclude(worker, done.error());
}

void LargeMember::conclude(tree::TreeWorker& worker, const Result<tree::CopyStep>& done) {
    const bool is_stored = done && *done == tree::CopyStep::done;
    if (!done) maker_.parts.failures.report(path_of(*place_.dir_node, place_.name), done.error());
    if (is_stored) ++maker_.parts.counts.copied;
    maker_.parts.counts.passed_bytes += before_.bytes - std::min(data_bytes(), before_.bytes);  // holes of the file
    if (is_stored) maker_.stored(worker, first_, place_);
    else maker_.give_up(worker, maker_.parts.links.id_of(first_));
    maker_.count_done(worker, place_.dir_node);
}

}  // namespace

void start_large_member(Maker& maker, tree::TreeWorker& worker, const tree::EntryPlace& place,
                        std::unique_ptr<sys::OpenFile> file, const sys::EntryStatus& status) {
    const auto member = std::make_shared<LargeMember>(maker, place, std::move(file), status);
    maker.parts.share.add(worker, [member](tree::TreeWorker& own_worker) { member->begin(own_worker); });
}

}  // namespace forebay::archive

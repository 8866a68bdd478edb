#include "transfer/copy/large_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/move/journal.hpp"
#include "core/sys/machine.hpp"
#include "transfer/copy/copy_entry_log.hpp"
#include "transfer/copy/look_up.hpp"
#include "transfer/copy/precheck.hpp"
#include "transfer/team/team.hpp"

namespace forebay::tree {

namespace {

// About 16 ms of copying: short beside a file of minutes, long beside the three calls for a piece.
constexpr std::uint64_t piece_bytes = 32u << 20;
constexpr std::size_t journal_bytes_max = 256;

std::uint64_t identity_of(const sys::EntryStatus& status) {
    const auto text = fmt::format("{} {} {} {} {}.{} {}.{} {}", sys::boot_id(), status.id.device, status.id.number,
                                  status.bytes, status.modified.seconds, status.modified.nanoseconds,
                                  status.changed.seconds, status.changed.nanoseconds, piece_bytes);
    return siphash({}, std::as_bytes(std::span(text)));
}

class LargeFile final : public PiecewiseFile, public std::enable_shared_from_this<LargeFile> {
public:
    LargeFile(LargeFiles& all, CopyEntry entry) : all_(all), entry_(std::move(entry)) {}

    /// Opens both files and adds the pieces. On error nothing was added.
    Result<CopyStep> start(TreeWorker& worker);
    void describe(TeamMessage& work_item, sys::ByteStretch bytes) const override;
    void done_by_other(TreeWorker& worker, sys::ByteStretch bytes, const std::string& parts) override {
        end_piece(worker, bytes.begin / piece_bytes, new_file_->file().take_parts(parts));
    }

private:
    sys::ByteStretch piece(std::uint64_t index) const {
        return {index * piece_bytes, std::min((index + 1) * piece_bytes, before_.bytes)};
    }
    void copy_piece(TreeWorker& worker, std::uint64_t index);
    void end_piece(TreeWorker& worker, std::uint64_t index, Result<> copied);
    void take_over();
    Result<> try_piece(TreeWorker& worker, std::uint64_t index);
    void end(TreeWorker& worker);
    Result<CopyStep> try_end(TreeWorker& worker);
    Result<std::uint64_t> open_target();
    Result<> write_journal(std::uint64_t durable);
    Result<CopyStep> begin(TreeWorker& worker, const sys::EntryStatus& status);
    Result<> add_pieces(TreeWorker& worker);
    Result<> find_pieces();
    void conclude(TreeWorker& worker, const Result<CopyStep>& done);

    LargeFiles& all_;
    const CopyEntry entry_;
    const std::string temporary_name_ = all_.names.name_for(entry_.name);
    int tries_ = 1;
    std::unique_ptr<sys::OpenFile> source_, journal_;
    std::optional<NewEntry> new_file_;
    sys::EntryStatus before_;
    std::atomic<std::uint64_t> pieces_left_{0};
    std::mutex mutex_;              // guards the members below
    std::set<std::uint64_t> open_;  // pieces still to do; holes of the source have none
    std::uint64_t low_water_ = 0;   // all pieces below it are done
    Result<> failed_;
};

Result<CopyStep> LargeFile::start(TreeWorker& worker) {
    FB_TRY_ASSIGN(opened, entry_.source->open_file(entry_.name));
    source_ = std::move(opened);
    FB_TRY_ASSIGN(status, source_->status());
    if (status.kind != sys::EntryKind::file || !is_known(all_.links, entry_, status))
        return report_changes(all_.entry_log, entry_.path());
    FB_TRY(refuse_attributes_first(all_.losses, all_.options.preserve, entry_, *source_, status));
    return begin(worker, status);
}

Result<CopyStep> LargeFile::begin(TreeWorker& worker, const sys::EntryStatus& status) {
    FB_TRY_ASSIGN(settled, settled_status(*source_, status));
    if (!settled) return report_changes(all_.entry_log, entry_.path());
    before_ = *settled;
    new_file_.emplace(all_.maker.new_entry(entry_, before_));
    FB_TRY(add_pieces(worker));
    return CopyStep::later;
}

// Opens the file of an earlier run if it belongs to this state of the source. Returns how many of its bytes are there.
Result<std::uint64_t> LargeFile::open_target() {
    if (!entry_.dir_node->was_made) {
        take_over();
        auto old_journal = entry_.target->reopen_file(parts_name(temporary_name_));
        auto old = old_journal ? entry_.target->reopen_file(temporary_name_)
                               : Result<std::unique_ptr<sys::OpenFile>>(old_journal.error());
        if (old_journal && old) {
            std::vector<std::byte> text(journal_bytes_max);
            const auto got = (*old_journal)->read(0, text);
            const auto journal = got ? move::journal_from(std::string(reinterpret_cast<const char*>(text.data()), *got))
                                     : Result<move::Journal>(got.error());
            const auto status = (*old)->status();
            // Continue only with a file of this user under one name: another user could have put a file there.
            if (journal && journal->identity == identity_of(before_) && status && status->names == 1 &&
                status->kind == sys::EntryKind::file && status->user == all_.new_entries.owner().user) {
                new_file_->take_file(std::move(*old), *status);
                journal_ = std::move(*old_journal);
                return std::min(journal->durable, before_.bytes);
            }
        }
    }
    static_cast<void>(entry_.target->remove(temporary_name_));
    FB_TRY(new_file_->make_closed_file());
    if (auto given = new_file_->give_owner_first(); !given) {
        static_cast<void>(entry_.target->remove(temporary_name_));
        return given.error();
    }
    // An object store has its own marker and resumes by its uploaded parts.
    if (new_file_->file().begins_with_attributes()) return new_file_->begin_copy(*source_);
    static_cast<void>(entry_.target->remove(parts_name(temporary_name_)));
    FB_TRY_ASSIGN(journal, entry_.target->make_file(parts_name(temporary_name_), 0600));
    journal_ = std::move(journal);
    return 0;
}

// Takes over the temporary files of another process by a rename to this process's names.
void LargeFile::take_over() {
    for (const auto& name : all_.names.others_of(entry_.name, entry_.dir_node->leftovers)) {
        if (!entry_.target->rename(name, temporary_name_)) continue;
        static_cast<void>(entry_.target->rename(parts_name(name), parts_name(temporary_name_)));
    }
}

void LargeFile::describe(TeamMessage& work_item, sys::ByteStretch bytes) const {
    const auto status = new_file_->file().status();
    GivenPiece{.name = entry_.name,
               .temporary = temporary_name_,
               .bytes = bytes,
               .inode = before_.id.number,
               .file_bytes = before_.bytes,
               .modified = before_.modified,
               .made_inode = status ? status->id.number : 0}
        .add_to(work_item);
}

Result<> LargeFile::write_journal(std::uint64_t durable) {
    if (!journal_) return {};
    const auto text = move::text_of({.identity = identity_of(before_), .durable = durable});
    return journal_->write(0, std::as_bytes(std::span(text)));
}

Result<> LargeFile::add_pieces(TreeWorker& worker) {
    FB_TRY_ASSIGN(present, open_target());
    low_water_ = present / piece_bytes;
    all_.counts.resumed_bytes += low_water_ * piece_bytes;
    FB_TRY(find_pieces());
    all_.counts.passed_bytes += before_.bytes;
    for (const auto index : open_) all_.counts.passed_bytes -= piece(index).end - piece(index).begin;
    failed_ = Result<>();
    const std::vector<std::uint64_t> all(open_.rbegin(), open_.rend());
    pieces_left_ = all.size() + 1;  // one more for this call
    for (const auto index : all)    // the last added piece is done first
        worker.share->add(worker,
                          [self = shared_from_this(), index](TreeWorker& other) { self->copy_piece(other, index); },
                          {.dir_node = entry_.dir_node, .file = shared_from_this(), .bytes = piece(index)});
    if (--pieces_left_ == 0) end(worker);
    return {};
}

// A file of 8 EiB has 2^38 pieces, and few of them have data.
Result<> LargeFile::find_pieces() {
    open_.clear();
    const auto add = [this](sys::ByteStretch data) {
        for (auto index = data.begin / piece_bytes; index * piece_bytes < data.end; ++index)
            open_.insert(open_.end(), index);
    };
    const bool sparse = new_file_->is_sparse();
    if (!sparse) add({low_water_ * piece_bytes, before_.bytes});
    for (auto at = low_water_ * piece_bytes; sparse && at < before_.bytes;) {
        FB_TRY_ASSIGN(data, source_->next_data(at));
        if (!data || data->begin >= before_.bytes) break;
        at = std::min(data->end, before_.bytes);
        add({data->begin, at});
    }
    return {};
}

void LargeFile::copy_piece(TreeWorker& worker, std::uint64_t index) {
    end_piece(worker, index, try_piece(worker, index));
}

void LargeFile::end_piece(TreeWorker& worker, std::uint64_t index, Result<> copied) {
    {
        const std::lock_guard lock(mutex_);
        if (copied) {
            open_.erase(index);
            all_.counts.passed_bytes += piece(index).end - piece(index).begin;
            const auto before = low_water_;
            low_water_ = open_.empty() ? (before_.bytes + piece_bytes - 1) / piece_bytes : *open_.begin();
            // The journal claims only whole pieces without a gap before them.
            if (low_water_ > before) copied = write_journal(low_water_ * piece_bytes);
        }
        if (!copied && failed_) failed_ = copied;
    }
    if (--pieces_left_ == 0) end(worker);
}

Result<> LargeFile::try_piece(TreeWorker& worker, std::uint64_t index) {
    {
        const std::lock_guard lock(mutex_);
        FB_TRY(failed_);  // the other pieces are useless now
    }
    return copy_bytes(*source_, new_file_->file(), piece(index), new_file_->is_sparse(), all_.flow.way(),
                      worker.buffer);
}

void LargeFile::end(TreeWorker& worker) {
    auto status = source_->status();
    if (failed_ && status && !is_unchanged(before_, *status) && tries_ < copy_tries_max) {
        ++tries_;
        // The journal describes the old state. Without it the file begins anew.
        static_cast<void>(entry_.target->remove(parts_name(temporary_name_)));
        const auto begun = begin(worker, *status);
        if (!begun || *begun != CopyStep::later) conclude(worker, begun);
        return;
    }
    const auto done = [&]() -> Result<CopyStep> {
        FB_TRY(failed_);
        FB_TRY_ASSIGN(after, status);
        if (!is_unchanged(before_, after)) return report_changes(all_.entry_log, entry_.path());
        return try_end(worker);
    }();
    conclude(worker, done);
}

Result<CopyStep> LargeFile::try_end(TreeWorker& worker) {
    TemporaryName temporary(*entry_.target, temporary_name_);
    FB_TRY(new_file_->file().resize(before_.bytes));  // it may end with a hole
    return new_file_->complete_file(worker, *source_, temporary);
}

void LargeFile::conclude(TreeWorker& worker, const Result<CopyStep>& done) {
    // After a stop, or without room, a later run continues with the finished pieces. In all other cases they are
    // removed.
    const bool goes_on = worker.share->is_stopped() ? !done || *done == CopyStep::reported
                                                    : !done && done.error().kind == ErrorKind::full;
    const bool is_named = done && *done == CopyStep::done, has_failed = !done || *done == CopyStep::reported;
    if (is_named || (has_failed && !goes_on)) {
        if (has_failed) static_cast<void>(entry_.target->remove(temporary_name_));
        if (journal_) static_cast<void>(entry_.target->remove(parts_name(temporary_name_)));
    }
    if (!done) all_.failures.report(entry_.dir_node, entry_.name, done.error());
    if (is_named) all_.inode_ends.named(worker, entry_.inode, {entry_.dir_node, entry_.name});
    if (has_failed) all_.inode_ends.failed(worker, entry_.inode);
    all_.dir_node_ends.done_in(entry_.dir_node);
}

}  // namespace

CopyStep LargeFiles::start_large(TreeWorker& worker, const EntryPlace& place, const sys::EntryId& inode) {
    ++place.dir_node->pending;
    worker.share->add(worker, [this, place, inode](TreeWorker& own_worker) {
        const auto started = [&]() -> Result<CopyStep> {
            FB_TRY_ASSIGN(source, folders.get(place.dir_node, TreeSide::source));
            FB_TRY_ASSIGN(target, folders.get(place.dir_node, TreeSide::target));
            return std::make_shared<LargeFile>(*this, CopyEntry{place.dir_node, source, target, place.name, inode})
                ->start(own_worker);
        }();
        if (started && *started == CopyStep::later) return;
        if (!started) failures.report(place.dir_node, place.name, started.error());
        inode_ends.failed(own_worker, inode);
        dir_node_ends.done_in(place.dir_node);
    });
    return CopyStep::later;
}

void GivenPiece::add_to(TeamMessage& work_item) const {
    work_item.texts = {name, temporary};
    work_item.numbers = {
        bytes.begin,          bytes.end, inode, file_bytes, static_cast<std::uint64_t>(modified.seconds),
        modified.nanoseconds, made_inode};
}

Result<GivenPiece> GivenPiece::from(const TeamMessage& work_item) {
    GivenPiece piece;
    std::uint64_t seconds = 0, nanoseconds = 0;
    const std::array fields{&piece.bytes.begin, &piece.bytes.end, &piece.inode,     &piece.file_bytes,
                            &seconds,           &nanoseconds,     &piece.made_inode};
    constexpr std::size_t texts = 2;
    if (work_item.texts.size() != texts || work_item.numbers.size() != fields.size())
        return Error{ErrorKind::corrupt, "a piece of a file was not described"};
    for (std::size_t at = 0; at < fields.size(); ++at) *fields[at] = work_item.numbers[at];
    if (piece.bytes.begin > piece.bytes.end)
        return Error{ErrorKind::corrupt, "a piece of a file ends before it begins"};
    piece.name = work_item.texts.front();
    piece.temporary = work_item.texts.back();
    piece.modified = {static_cast<std::int64_t>(seconds), static_cast<std::uint32_t>(nanoseconds)};
    return piece;
}

}  // namespace forebay::tree

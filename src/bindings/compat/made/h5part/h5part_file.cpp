#include "bindings/compat/made/h5part/h5part_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "bindings/compat/made/file_maker.hpp"
#include "bindings/compat/made/h5part/h5part_writer.hpp"
#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/move/export_place.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/wait_until.hpp"
#include "path/node/run_lock.hpp"

namespace forebay::made {

namespace {

constexpr std::uint64_t align_bytes_default = 1u << 20;
constexpr std::uint64_t copy_bytes = 8u << 20;
constexpr sys::Pauses look_pauses{std::chrono::milliseconds(5), std::chrono::milliseconds(500)};

class H5PartMaker {
public:
    H5PartMaker(sys::Store& store, const H5PartMaking& making)
        : store_(store), making_(making), run_(making.file), part_(making.file + ".part") {}

    Result<H5PartMade> make() {
        FB_TRY_ASSIGN(has_run, store_.exists(run_.path()));
        if (!has_run) return nothing_to_make();
        FB_TRY_ASSIGN(maker, FileMaker::begin(store_, run_, making_.background));
        // Under the lock, which only one maker of the file has.
        const auto begun = making_.begin ? making_.begin() : Result<>();
        auto result = begun ? make_locked() : Result<H5PartMade>(begun.error());
        FB_TRY(maker.end(result ? Result<>() : Result<>(result.error()), making_.keep));
        return result;
    }

private:
    Result<H5PartMade> nothing_to_make() {
        FB_TRY_ASSIGN(has_file, store_.exists(making_.file));
        if (has_file) return H5PartMade{.was_there = true};
        return Error{ErrorKind::missing,
                     fmt::format("{} does not exist, and neither does its source {}.", making_.file, run_.path())};
    }

    Result<H5PartMade> make_locked() {
        FB_TRY_ASSIGN(is_marked, store_.exists(run_.made_path()));
        FB_TRY_ASSIGN(has_file, store_.exists(making_.file));
        if (is_marked && has_file) return H5PartMade{.was_there = true};
        FB_TRY_ASSIGN(expected, expected_snapshots());
        if (expected < 0 && run_.has_writer())
            return Error{
                ErrorKind::retry,
                fmt::format("{} is still being written{}", making_.file, node::run_lock_doubt(run_.writer_lock())), "",
                "wait for its writer to close it"};
        FB_TRY_ASSIGN(snapshots, await(expected));
        auto result = write(snapshots, expected >= 0);
        if (result) return result;
        const auto& error = result.error();
        // The part may be incomplete. If it cannot be removed, the next making overwrites it.
        static_cast<void>(store_.remove(part_));
        return with_context(error, fmt::format("{} was not made: {}", making_.file, error.what),
                            fmt::format("{}, with all committed snapshots", run_.path()),
                            fmt::format("forebay h5part {}", making_.file));
    }

    /// The number of snapshots to expect; -1 if the writer has not written it.
    Result<std::int64_t> expected_snapshots() {
        const auto path = run_.expected_path();
        if (making_.snapshots >= 0) {
            FB_TRY(sys::write_text_durable(store_, path, fmt::format("{}\n", making_.snapshots)));
            return making_.snapshots;
        }
        auto text = sys::read_text(store_, path, 64);
        if (!text && text.error().kind == ErrorKind::missing) return std::int64_t{-1};
        if (!text) return text.error();
        std::int64_t number = -1;
        std::from_chars(text->data(), text->data() + text->size(), number);
        return number;
    }

    Result<std::vector<catalog::Snapshot>> committed(bool& has_parts) {
        std::vector<catalog::Snapshot> all;
        const auto streams = catalog::streams(store_, run_.path());
        if (!streams) return streams.error();
        for (const auto& stream : *streams) {
            FB_TRY_ASSIGN(snapshots, catalog::snapshots(store_, run_.path(), stream));
            FB_TRY_ASSIGN(leftovers, catalog::leftovers(store_, run_.path(), stream));
            has_parts |= std::ranges::any_of(leftovers, [](const auto& leftover) {
                return leftover.kind == catalog::Leftover::Kind::part || leftover.kind == catalog::Leftover::Kind::old;
            });
            all.insert(all.end(), snapshots.begin(), snapshots.end());
        }
        return all;
    }

    Result<std::vector<catalog::Snapshot>> await(std::int64_t expected) {
        Result<std::vector<catalog::Snapshot>> snapshots = std::vector<catalog::Snapshot>();
        const auto is_all = [&] {
            bool has_parts = false;
            snapshots = committed(has_parts);
            if (!snapshots || expected < 0) return !snapshots || !has_parts || making_.partial;
            return static_cast<std::int64_t>(snapshots->size()) >= expected;
        };
        if (sys::wait_until(sys::Clock::now() + making_.wait_max, look_pauses, is_all)) return snapshots;
        return not_committed(static_cast<std::int64_t>(snapshots->size()), expected);
    }

    Error not_committed(std::int64_t count, std::int64_t expected) const {
        const auto what = expected >= 0 ? fmt::format("{} of {} snapshots are committed", count, expected)
                                        : "some snapshots are drained in part, and their writer never closed the file";
        return {ErrorKind::retry,
                fmt::format("{} was not made: {} after {:.0f} s", making_.file, what,
                            std::chrono::duration<double>(making_.wait_max).count()),
                fmt::format("{}, and the staged copies on the nodes", run_.path()),
                fmt::format("forebay drain all, on each node. Then forebay h5part {}{}", making_.file,
                            expected >= 0 ? "" : ", with --partial to leave out incomplete snapshots")};
    }

    /// A writer that begins anew removes the file first. So if the file exists and no snapshot does, a writer wanted to
    /// append and committed nothing. If no writer wrote the number of snapshots, the file was made from other
    /// snapshots, before this one was drained.
    Result<H5PartMade> write(const std::vector<catalog::Snapshot>& committed, bool all_are_here) {
        FB_TRY_ASSIGN(has_file, store_.exists(making_.file));
        if (committed.empty() && has_file) return H5PartMade{.was_there = true};
        std::vector<H5PartSnapshot> snapshots;
        std::uint64_t bytes_all = 0;
        for (const auto& snapshot : committed) {
            FB_TRY_ASSIGN(looked, look_at(store_, snapshot));
            for (const auto& line : looked.manifest.nodes) bytes_all += line.data_bytes;
            snapshots.push_back(std::move(looked));
        }
        // Later snapshots replace data of earlier snapshots, so they are written in the order of saving.
        std::ranges::sort(snapshots, {}, &H5PartSnapshot::order);
        const bool appends = (!snapshots.empty() && snapshots.front().appends) || (has_file && !all_are_here);
        if (appends) FB_TRY(copy_file());
        H5PartMade result;
        {
            const h5::QuietErrors quiet;
            const auto align = making_.align_bytes == 0 ? align_bytes_default : making_.align_bytes;
            FB_TRY_ASSIGN(writer, H5PartWriter::open(part_, appends, align));
            for (const auto& snapshot : snapshots) FB_TRY(writer.add(store_, snapshot, making_, result, bytes_all));
            FB_TRY(writer.close());
        }
        // The bytes are synced before the name: a reader that sees the name finds all of them.
        FB_TRY_ASSIGN(file, store_.open(part_, sys::Access::update));
        FB_TRY(file->sync());
        FB_TRY(file->close());
        FB_TRY(move::put_in_place(store_, part_, making_.file));
        return result;
    }

    /// The file stays as it is until the longer file has its name.
    Result<> copy_file() {
        FB_TRY_ASSIGN(from, store_.open(making_.file, sys::Access::read));
        FB_TRY_ASSIGN(to, store_.open(part_, sys::Access::create));
        FB_TRY_ASSIGN(size, from->size());
        std::vector<std::byte> buffer(copy_bytes);
        for (std::uint64_t at = 0; at < size; at += copy_bytes) {
            const auto piece = std::span(buffer).first(std::min(copy_bytes, size - at));
            FB_TRY(from->read(at, piece));
            FB_TRY(to->write(at, piece));
        }
        return to->close();
    }

    sys::Store& store_;
    const H5PartMaking& making_;
    FileRun run_;
    std::string part_;
};

}  // namespace

Result<H5PartMade> make_h5part_file(sys::Store& store, const H5PartMaking& making) {
    return H5PartMaker(store, making).make();
}

}  // namespace forebay::made

#include "path/commit/commit_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/try.hpp"
#include "core/format/layout.hpp"
#include "core/format/packed.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/catalog.hpp"
#include "path/commit/commit.hpp"
#include "path/commit/publish.hpp"

namespace forebay::commit {

namespace {

// Each conflict doubles the range of steps to draw from, up to this many times. A thousand packers that start at the
// same moment then collide a dozen times at worst.
constexpr int doublings_max = 16;
// So many conflicts are not bad luck: the target lists names that nobody can take.
constexpr int attempts_max = 64;

Error gone(const BatchPart& batch) {
    return {ErrorKind::retry, fmt::format("the batch in {} was moved or removed by another process", batch.directory()),
            "the original files", fmt::format("forebay recover {} finishes leftovers. Then pack again", batch.run)};
}

}  // namespace

std::string BatchPart::directory() const { return run + "/" + stream + "/" + catalog::part_name(step, snapshot_id); }

Result<std::int64_t> next_step(sys::Store& store, const std::string& run, const std::string& stream, int attempt) {
    auto step = sys::unix_ns() / 1'000'000;
    const auto all = catalog::snapshots(store, run, stream);
    if (!all && all.error().kind != ErrorKind::missing) return all.error();
    const auto range = std::uint64_t{1} << std::min(attempt, doublings_max);
    const auto last = std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(range);
    if (all && !all->empty()) step = std::max(step, std::min(all->front().step, last - 1) + 1);
    return step + static_cast<std::int64_t>(sys::random_u64() % range);
}

Result<> move_to_free_step(sys::Store& store, const std::string& directory, BatchPart& batch, int attempt) {
    auto moved = batch;
    FB_TRY_ASSIGN(step, next_step(store, batch.run, batch.stream, attempt));
    moved.step = step;
    // The rename comes first. Nobody commits a part whose record holds another step than its name, so the process that
    // renamed it owns it until the record is right.
    FB_TRY(store.rename(directory, moved.directory()));
    batch = moved;
    // Sync before the next rename: a power cut could otherwise undo only this rename and leave both names.
    FB_TRY(store.sync_directory(batch.run + "/" + batch.stream));
    const auto path = batch.directory() + "/" + format::node_path(0, 1);
    FB_TRY_ASSIGN(file, store.open(path, sys::Access::update));
    std::vector<std::byte> pages(format::record_offset_bytes + format::record_size_bytes);
    FB_TRY(file->read(0, pages));
    FB_TRY(format::change_step(pages, batch.step, path));
    FB_TRY(file->write(format::record_offset_bytes, std::span(pages).subspan(format::record_offset_bytes)));
    FB_TRY(file->sync());
    return file->close();
}

Result<> commit_batch(sys::Store& store, BatchPart& batch) {
    for (int attempt = 1;; ++attempt) {
        const SnapshotKey key{batch.run, batch.stream, batch.step, {.snapshot_id = batch.snapshot_id}, 1, {}};
        FB_TRY_ASSIGN(outcome, commit_if_complete(store, key, batch.run_id));
        if (outcome == Commit::waiting) return gone(batch);
        if (outcome != Commit::taken) break;
        if (attempt == attempts_max)
            return Error{ErrorKind::refused,
                         fmt::format("the batch in {} gets no step: {} further steps were taken too", batch.directory(),
                                     attempts_max - 1),
                         "the original files", fmt::format("forebay ls {}/{}", batch.run, batch.stream)};
        const auto moved = move_to_free_step(store, batch.directory(), batch, attempt);
        if (!moved && moved.error().kind == ErrorKind::missing) return gone(batch);
        FB_TRY(moved);
    }
    // Check again before success: the caller may now remove the only other copy of the files.
    FB_TRY_ASSIGN(there,
                  find_committed(store, {batch.run, batch.stream, batch.step}, {.snapshot_id = batch.snapshot_id}));
    return there ? Result<>() : Result<>(gone(batch));
}

}  // namespace forebay::commit

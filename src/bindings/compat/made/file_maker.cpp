#include "bindings/compat/made/file_maker.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/base/try.hpp"
#include "core/sys/process.hpp"

namespace forebay::made {

Result<FileMaker> FileMaker::begin(sys::Store& store, FileRun run, bool background) {
    std::optional<sys::DaemonStart> start;
    if (background) {
        FB_TRY_ASSIGN(forked, sys::DaemonStart::fork_away());
        start.emplace(std::move(forked));
        FB_TRY(sys::pin_to_cpus("all"));
        FB_TRY(sys::give_way());
    }
    auto lock = node::RunLock::take(run.finish_lock());
    if (!lock && lock.error().kind == ErrorKind::retry)
        return Error{
            ErrorKind::retry,
            fmt::format("{} is being made by another process{}", run.file(), node::run_lock_doubt(run.finish_lock())),
            "", fmt::format("wait for it. Its log is {}", run.finish_log())};
    if (!lock) return lock.error();
    // The reason of an earlier attempt no longer counts.
    FB_TRY(store.remove(run.failed_path()));
    // The parent continues now. The lock shows to all that the file is being made.
    if (start) start->ready();
    return FileMaker(store, std::move(run), std::move(*lock));
}

Result<> FileMaker::mark_made() {
    FB_TRY_ASSIGN(is_marked, store_->exists(run_.made_path()));
    return is_marked ? Result<>() : sys::write_text_durable(*store_, run_.made_path(), "made\n");
}

Result<> FileMaker::end(const Result<>& outcome, bool keep) {
    const auto ended = outcome ? mark_made() : outcome;
    if (!ended) {
        const auto written = sys::write_text_durable(*store_, run_.failed_path(), ended.error().text());
        if (!written) return with_context(ended.error(), ended.error().what + " (" + written.error().what + ")");
        return ended;
    }
    // Removed under the lock, for which the next writer of the name waits.
    if (keep || run_.has_writer()) return {};
    return sys::remove_tree_at_once(*store_, run_.path());
}

}  // namespace forebay::made

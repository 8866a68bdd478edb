#include "made/writers.hpp"

#include "base/try.hpp"
#include "node/staging.hpp"

namespace forebay::made {

namespace {

// The agent of a new session would commit what an earlier writer left staged on this node.
Result<> clear_staged(const Options& options) {
    FB_TRY_ASSIGN(left, node::staging_directories_of(options.staging, options.run));
    for (const auto& directory : left) FB_TRY(node::remove_leftover(directory));
    return {};
}

}  // namespace

Result<> claim(WrittenFile& file, const std::function<Result<>()>& clear) {
    const auto& run = file.making.run;
    auto& options = file.making.settings.options;
    options.run = run.path();
    FB_TRY(on_first_rank(file.ranks, clear));
    const auto node = file.ranks.world->split_shared();
    FB_TRY(comm::agree(*file.ranks.world, node->rank() == 0 ? clear_staged(options) : Result<>()));
    return on_first_rank(file.ranks, [&]() -> Result<> {
        auto taken = node::RunLock::take(run.writer_lock());
        if (!taken && taken.error().kind == ErrorKind::retry) return run.in_use();
        if (!taken) return taken.error();
        file.lock = std::move(*taken);
        return {};
    });
}

Result<> finish(WrittenFile& file, const Result<>& closed) {
    const auto& making = file.making;
    return on_first_rank(file.ranks, [&]() -> Result<> {
        if (!file.is_locked_until_made) file.lock.release();
        FB_TRY(closed);
        // The maker has waited since the file was closed, and may have given up snapshots that are committed by now.
        FB_TRY(making.start_if_needed());
        FB_TRY(making.await());
        file.lock.release();
        // The maker deletes the run itself if it ends after the writer.
        return making.settings.keep ? Result<>() : making.remove_if_made();
    });
}

}  // namespace forebay::made

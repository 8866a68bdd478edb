#include "bindings/compat/genericio/pending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/wait_until.hpp"
#include "path/catalog/catalog.hpp"
#include "path/node/staging.hpp"

namespace forebay::genericio {

namespace {

// The most unfinished files: the session of each holds its staging memory.
constexpr std::size_t unfinished_max = 2;
constexpr std::chrono::milliseconds agent_pause{20};

made::Writers<WrittenTable>& unfinished() {
    static made::Writers<WrittenTable> files;
    return files;
}

Result<made::Making> making_of(const std::string& file, bool compress) {
    FB_TRY_ASSIGN(settings, behind::settings("GENERICIO"));
    const made::FileRun run(file);
    made::Making making{
        .run = run,
        .settings = std::move(settings),
        .command = {"export", "genericio", fmt::format("{}/{}@0", run.path(), format::stream_name), file, "--force"}};
    if (compress) making.more.emplace_back("--compress");
    return making;
}

/// True if a writer that is gone left a whole write in the run. Its agents outlive it and may still be draining that
/// write, so this waits for them.
Result<bool> holds_a_write(const made::Making& making) {
    const auto& options = making.settings.options;
    const auto& run = making.run;
    FB_TRY_ASSIGN(has_failed, sys::posix_store().exists(run.failed_path()));
    if (has_failed) return true;
    FB_TRY_ASSIGN(staged, node::staging_directories_of(options.staging, run.path()));
    const auto is_at_work = [](const std::string& directory) {
        return sys::lock_is_held(node::agent_lock_path(directory));
    };
    sys::wait_until(sys::Clock::now() + options.close_wait, {agent_pause}, [&] {
        if (std::ranges::none_of(staged, is_at_work)) return true;
        // An agent that only lingers has drained everything, and need not stay for a restart.
        std::ranges::for_each(staged, node::dismiss_lingering);
        return false;
    });
    const auto committed = catalog::snapshots(sys::posix_store(), run.path(), format::stream_name);
    if (!committed && committed.error().kind != ErrorKind::missing) return committed.error();
    if (committed && !committed->empty()) return true;
    FB_TRY_ASSIGN(left, node::staging_directories_of(options.staging, run.path()));
    // Other nodes of the writer leave their unfinished drains here.
    if (committed) {
        FB_TRY_ASSIGN(begun, catalog::leftovers(sys::posix_store(), run.path(), format::stream_name));
        for (const auto& leftover : begun)
            if (leftover.kind == catalog::Leftover::Kind::part) left.push_back(leftover.directory);
    }
    if (left.empty()) return false;
    return Error{
        ErrorKind::retry,
        fmt::format("{} was not made: its last write was not committed when its writer ended", run.file()),
        left.front(),
        fmt::format(
            "forebay drain all on each of its nodes, then open {} again. Or remove {} to return to the earlier {}",
            run.file(), run.path(), run.file())};
}

void warn_of_no_locks(const std::string& file) {
    static std::once_flag warned;
    std::call_once(warned, [&] { std::fputs((made::warning_of_no_locks(file) + "\n").c_str(), stderr); });
}

/// Removes the run of earlier writers of the name. FILE itself stays until the new file takes its place.
Result<> clear(const made::Making& making) {
    FB_TRY(making.run.rename_old_marks());
    FB_TRY(making.clear(false));
    return sys::posix_store().make_directories(making.run.path());
}

}  // namespace

Result<> finish_earlier(const made::FileRanks& ranks, const std::string& file) {
    auto own_count = unfinished().count(ranks);
    return unfinished().finish([&](const WrittenTable& written) {
        // In the order of writing, so the oldest files are finished first.
        if (written.ranks.key != ranks.key || (written.name() != file && own_count < unfinished_max)) return false;
        --own_count;
        return true;
    });
}

Result<WrittenTable> begin(const GridRanks& ranks, const std::string& file, bool compress) {
    auto making = making_of(file, compress);
    FB_TRY(comm::agree(*ranks.world, making ? Result<>() : Result<>(making.error())));
    WrittenTable writing{{.ranks = ranks, .making = std::move(*making)}};
    FB_TRY(made::claim(writing, [&] { return clear(writing.making); }));
    if (writing.lock.is_of_host()) warn_of_no_locks(file);
    FB_TRY_ASSIGN(session, ranks.open(writing.making.settings.options));
    writing.session.emplace(std::move(session));
    return writing;
}

Result<> end(WrittenTable writing) {
    const auto started = made::on_first_rank(writing.ranks, [&] { return writing.making.start(); });
    unfinished().add(std::move(writing));
    return started;
}

Result<> await_file(const std::string& file) {
    const made::FileRun run(file);
    FB_TRY_ASSIGN(is_unfinished, run.is_unfinished());
    if (!is_unfinished) return {};
    FB_TRY(run.rename_old_marks());
    FB_TRY_ASSIGN(making, making_of(file, defaults().compresses()));
    if (!run.has_maker() && !run.has_writer()) {
        FB_TRY_ASSIGN(is_sealed, holds_a_write(making));
        // The writer died before the seal: the file from before it is still valid.
        if (!is_sealed) return {};
        FB_TRY(making.start());
    }
    return making.await();
}

Result<> finish_all(made::Which which) { return unfinished().finish_all(which); }

}  // namespace forebay::genericio

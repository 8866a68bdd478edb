#include "genericio/pending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <mutex>
#include <thread>

#include "catalog/catalog.hpp"
#include "foreign/genericio/run.hpp"
#include "node/staging.hpp"

namespace forebay::genericio {

namespace {

namespace files = foreign::genericio;
using behind::exists, behind::finish_where;

// Sessions of files that are not made yet hold their staging memory: so many at a time.
constexpr std::size_t unfinished_max = 2;
constexpr std::chrono::milliseconds agent_pause{20};

std::list<Writing>& unfinished() {
    static std::list<Writing> writings;
    return writings;
}

behind::Making making_of(const std::string& run) {
    return {run, files::maker_lock(run), files::made_path(run), files::failed_path(run)};
}

Result<> start_making(const std::string& file, const Settings& settings, bool compress) {
    const auto run = files::run_of(file);
    std::vector<std::string> arguments{"export",
                                       "genericio",
                                       fmt::format("{}/{}@0", run, files::stream_name),
                                       file,
                                       "--background",
                                       "--force",
                                       "--wait",
                                       fmt::format("{}", settings.options.close_wait.count() / 1000)};
    if (compress) arguments.emplace_back("--compress");
    if (settings.keep) arguments.emplace_back("--keep");
    const auto started = behind::start(settings, std::move(arguments), files::log_path(run), making_of(run));
    // Of two that start it at once, one gets the lock, and both wait for that one.
    if (started || node::run_lock_is_held(files::maker_lock(run))) return {};
    return because(started.error(), fmt::format("the making of {} was not started: {}", file, started.error().what),
                   fmt::format("{}, and what is staged", run),
                   fmt::format("forebay export genericio {}/{}@0 {} --force", run, files::stream_name, file));
}

Error not_made(const std::string& file, const std::string& why) {
    const auto run = files::run_of(file);
    return {ErrorKind::retry, fmt::format("{} is not made: {}", file, why), fmt::format("what is committed in {}", run),
            fmt::format("forebay export genericio {}/{}@0 {} --force", run, files::stream_name, file)};
}

Result<> await_making(const std::string& file, std::chrono::milliseconds wait_max) {
    return behind::await(making_of(files::run_of(file)), wait_max,
                         [&](const std::string& why, bool) { return not_made(file, why); });
}

Result<> finish(Writing& writing) {
    const auto run = files::run_of(writing.file);
    const auto closed = writing.session->close();
    return by_first(writing.ranks, [&]() -> Result<> {
        FB_TRY(closed);
        // The maker waits from the write on, the session from now on: what it gave up is committed after all.
        FB_TRY_ASSIGN(is_made, exists(files::made_path(run)));
        FB_TRY_ASSIGN(has_run, exists(run));
        if (!is_made && has_run && !node::run_lock_is_held(files::maker_lock(run)))
            FB_TRY(start_making(writing.file, writing.settings, writing.compress));
        FB_TRY(await_making(writing.file, writing.settings.options.close_wait));
        writing.lock.release();
        // The other half of what the maker does when it ends after the writer.
        if (writing.settings.keep) return {};
        return behind::remove_run(making_of(run), writing.settings.options.close_wait,
                                  [&] { return exists(files::made_path(run)); });
    });
}

/// Whether a writer that is gone has left a whole write in the run of `file`. Its agents outlive it and may still be
/// bringing that write: they are waited for.
Result<bool> holds_a_write(const Settings& settings, const std::string& file) {
    const auto run = files::run_of(file);
    const auto& options = settings.options;
    FB_TRY_ASSIGN(has_failed, exists(files::failed_path(run)));
    if (has_failed) return true;
    FB_TRY_ASSIGN(staged, node::staging_directories_of(options.staging, run));
    const auto deadline = sys::Clock::now() + options.close_wait;
    const auto is_drained = [](const std::string& one) { return sys::lock_is_held(node::agent_lock_path(one)); };
    while (std::ranges::any_of(staged, is_drained) && sys::Clock::now() < deadline) {
        std::ranges::for_each(staged, node::dismiss_lingering);
        std::this_thread::sleep_for(agent_pause);
    }
    const auto committed = catalog::snapshots(sys::posix_store(), run, files::stream_name);
    if (!committed && committed.error().kind != ErrorKind::missing) return committed.error();
    if (committed && !committed->empty()) return true;
    FB_TRY_ASSIGN(left, node::staging_directories_of(options.staging, run));
    // Other nodes of the writer leave what they began to drain.
    if (committed) {
        FB_TRY_ASSIGN(begun, catalog::leftovers(sys::posix_store(), run, files::stream_name));
        for (const auto& one : begun)
            if (one.kind == catalog::Leftover::Kind::part) left.push_back(one.directory);
    }
    if (left.empty()) return false;
    return Error{ErrorKind::retry,
                 fmt::format("{} is not made: its last write was not committed when its writer had ended", file),
                 left.front(),
                 fmt::format("forebay drain all on each of its nodes, then open {} again; or remove {} to go back to "
                             "what {} was before",
                             file, run, file)};
}

Error in_use(const std::string& file) {
    return {ErrorKind::refused,
            fmt::format("{} is being written by another program{}", file,
                        node::run_lock_doubt(files::writer_lock(files::run_of(file)))),
            "", "wait for its end, or write to another name"};
}

void warn_of_no_locks(const std::string& file) {
    static std::once_flag told;
    std::call_once(told, [&] { std::fputs((behind::without_locks(file) + "\n").c_str(), stderr); });
}

/// What earlier writers of the name left: FILE itself stays until the new one takes its place.
Result<> clear(const Settings& settings, const std::string& file) {
    auto& store = sys::posix_store();
    const auto run = files::run_of(file);
    FB_TRY_ASSIGN(has_run, exists(run));
    if (has_run) {
        if (node::run_lock_is_held(files::writer_lock(run))) return in_use(file);
        // Whatever became of it, it is about to be replaced; but two makers must not meet.
        if (node::run_lock_is_held(files::maker_lock(run))) {
            const auto ended = await_making(file, settings.options.close_wait);
            if (node::run_lock_is_held(files::maker_lock(run))) FB_TRY(ended);
        }
        FB_TRY(behind::remove_run(making_of(run), settings.options.close_wait, [] { return Result<bool>(true); }));
    }
    return store.make_directories(run);
}

}  // namespace

Result<> finish_earlier(const Ranks& ranks, const std::string& file) {
    std::size_t mine = 0;
    for (const auto& one : unfinished()) mine += one.ranks.key == ranks.key ? 1 : 0;
    return finish_where(
        unfinished(),
        [&](const Writing& one) {
            if (one.ranks.key != ranks.key || (one.file != file && mine < unfinished_max)) return false;
            --mine;
            return true;
        },
        finish);
}

Result<Writing> begin(const Ranks& ranks, const std::string& file, bool compress) {
    auto read = behind::settings("GENERICIO");
    FB_TRY(comm::agree(*ranks.world, read ? Result<>() : Result<>(read.error())));
    Writing writing{.ranks = ranks, .file = file, .settings = std::move(*read), .session = {}};
    writing.compress = compress;
    auto& options = writing.settings.options;
    options.run = files::run_of(file);
    FB_TRY(by_first(ranks, [&] { return clear(writing.settings, file); }));
    const auto node = ranks.world->split_shared();
    FB_TRY(comm::agree(*ranks.world, node->rank() == 0 ? behind::clear_staged(options) : Result<>()));
    FB_TRY(by_first(ranks, [&]() -> Result<> {
        auto taken = node::RunLock::take(files::writer_lock(options.run));
        if (!taken && taken.error().kind == ErrorKind::retry) return in_use(file);
        if (!taken) return taken.error();
        writing.lock = std::move(*taken);
        if (writing.lock.is_of_host()) warn_of_no_locks(file);
        return {};
    }));
    FB_TRY_ASSIGN(session, ranks.open(options));
    writing.session.emplace(std::move(session));
    return writing;
}

Result<> end(Writing writing) {
    const auto started =
        by_first(writing.ranks, [&] { return start_making(writing.file, writing.settings, writing.compress); });
    unfinished().push_back(std::move(writing));
    return started;
}

Result<> await_file(const std::string& file) {
    const auto run = files::run_of(file);
    FB_TRY_ASSIGN(has_run, exists(run));
    FB_TRY_ASSIGN(is_made, exists(files::made_path(run)));
    if (!has_run || is_made) return {};
    FB_TRY_ASSIGN(set, behind::settings("GENERICIO"));
    if (!node::run_lock_is_held(files::maker_lock(run)) && !node::run_lock_is_held(files::writer_lock(run))) {
        FB_TRY_ASSIGN(is_sealed, holds_a_write(set, file));
        // A write that died before it was sealed: what was there before it is what there is.
        if (!is_sealed) return {};
        FB_TRY(start_making(file, set, defaults().compresses()));
    }
    return await_making(file, set.options.close_wait);
}

Result<> finish_all(behind::Which which) {
    return finish_where(
        unfinished(), [&](const Writing& one) { return behind::is_of(which, one.ranks); }, finish);
}

}  // namespace forebay::genericio

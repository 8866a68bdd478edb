#include "h5part/pending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <list>

#include "h5part/report.hpp"
#include "views/h5part_run.hpp"

namespace forebay::h5part {

namespace {

namespace run_files = views::h5part;
using behind::exists, behind::finish_where;

// Sessions of files that are closed but not yet committed hold their slots: so many at a time.
constexpr std::size_t uncommitted_max = 2;

std::list<Writing>& closed_files() {
    static std::list<Writing> files;
    return files;
}

behind::Making making_of(const std::string& run) {
    return {run, run_files::finish_lock(run), run_files::made_path(run), run_files::failed_path(run)};
}

/// Starts `forebay h5part`; it has the lock of the run when this returns.
Result<> start_making(const std::string& file, std::int64_t snapshots, const Settings& settings,
                      std::uint64_t align_bytes) {
    const auto run = run_files::run_of(file);
    std::vector<std::string> arguments{"h5part", file, "--background", "--wait",
                                       fmt::format("{}", settings.options.close_wait.count() / 1000)};
    if (snapshots >= 0) arguments.insert(arguments.end(), {"--snapshots", fmt::format("{}", snapshots)});
    if (!settings.options.staging.empty()) arguments.insert(arguments.end(), {"--staging", settings.options.staging});
    if (settings.keep) arguments.emplace_back("--keep");
    if (align_bytes != 0) arguments.insert(arguments.end(), {"--align", fmt::format("{}", align_bytes)});
    const auto started = behind::start(settings, std::move(arguments), run_files::finish_log(run), making_of(run));
    // Of two that start it at once, one gets the lock, and both wait for that one.
    if (started || node::run_lock_is_held(run_files::finish_lock(run))) return {};
    return because(started.error(), fmt::format("the making of {} was not started: {}", file, started.error().what),
                   fmt::format("{}, and what is staged", run), fmt::format("forebay h5part {}", file));
}

Error not_made(const std::string& file, const std::string& why) {
    const auto run = run_files::run_of(file);
    return {ErrorKind::retry, fmt::format("{} is not there: {}", file, why),
            fmt::format("{} with all steps that are committed", run),
            fmt::format("look at {}; forebay h5part {}", run_files::finish_log(run), file)};
}

Result<> await_making(const std::string& file, std::chrono::milliseconds wait_max) {
    return behind::await(making_of(run_files::run_of(file)), wait_max, [&](const std::string& why, bool told) {
        return told ? Error{ErrorKind::retry, why} : not_made(file, why);
    });
}

/// The session's end and the file's. Collective over those that opened it.
Result<> finish(Writing& writing) {
    const auto run = run_files::run_of(writing.file);
    const auto closed = writing.writer->session().close();
    return by_first(writing.ranks, [&]() -> Result<> {
        writing.lock.release();
        FB_TRY(closed);
        // The maker waits from the file's close on, the session from now on: what it gave up is committed after all.
        FB_TRY_ASSIGN(is_made, exists(run_files::made_path(run)));
        FB_TRY_ASSIGN(has_run, exists(run));
        if (!is_made && has_run && !node::run_lock_is_held(run_files::finish_lock(run)))
            FB_TRY(start_making(writing.file, writing.writer->saved(), writing.settings, writing.align_bytes));
        FB_TRY(await_making(writing.file, writing.settings.options.close_wait));
        // The other half of what the maker does when it ends before the session does.
        if (writing.settings.keep) return {};
        return behind::remove_run(making_of(run), writing.settings.options.close_wait,
                                  [&] { return exists(run_files::made_path(run)); });
    });
}

void tell(const Result<>& finished) {
    if (!finished) fail("H5PartOpenFile", code_of(finished.error().kind), finished.error());
}

Error in_use(const std::string& file) {
    return {ErrorKind::refused,
            fmt::format("{} is being written by another program{}", file,
                        node::run_lock_doubt(run_files::writer_lock(run_files::run_of(file)))),
            "", "wait for its end, or write to another name"};
}

/// What an earlier writer of the name left is finished for one that appends, and removed for one that begins anew.
Result<> clear(const Settings& settings, const std::string& file, bool appends) {
    auto& store = sys::posix_store();
    const auto run = run_files::run_of(file);
    const auto directory = std::filesystem::path(file).parent_path().string();
    FB_TRY_ASSIGN(has_directory, exists(directory));
    FB_TRY_ASSIGN(has_run, exists(run));
    FB_TRY_ASSIGN(is_made, exists(run_files::made_path(run)));
    if (!has_directory) return Error{ErrorKind::broken, fmt::format("the directory {} does not exist.", directory)};
    if (has_run) {
        if (node::run_lock_is_held(run_files::writer_lock(run))) return in_use(file);
        if (node::run_lock_is_held(run_files::finish_lock(run))) {
            const auto ended = await_making(file, settings.options.close_wait);
            if (appends || node::run_lock_is_held(run_files::finish_lock(run))) FB_TRY(ended);
        } else if (appends && !is_made) {
            FB_TRY(start_making(file, -1, settings, 0));
            FB_TRY(await_making(file, settings.options.close_wait));
        }
        bool is_free = true;
        FB_TRY(behind::remove_run(making_of(run), settings.options.close_wait, [&]() -> Result<bool> {
            return is_free = !node::run_lock_is_held(run_files::writer_lock(run));
        }));
        if (!is_free) return in_use(file);
    }
    if (!appends) {
        FB_TRY(store.remove(file + ".part"));
        FB_TRY(store.remove(file));
    }
    return store.make_directories(run);
}

}  // namespace

Result<Writing> begin_writing(const Ranks& ranks, const std::string& file, bool appends, std::uint64_t align_bytes) {
    // What went wrong with another file is told, and keeps nobody from writing this one.
    tell(finish_committed(ranks));
    tell(finish_where(
        closed_files(), [&](const Writing& one) { return one.file == file && one.ranks.key == ranks.key; }, finish));
    auto read = behind::settings("H5PART");
    FB_TRY(comm::agree(*ranks.world, read ? Result<>() : Result<>(read.error())));
    Writing writing{.ranks = ranks, .file = file, .settings = std::move(*read), .writer = {}};
    writing.align_bytes = align_bytes;
    auto& options = writing.settings.options;
    options.run = run_files::run_of(file);
    FB_TRY(by_first(ranks, [&] { return clear(writing.settings, file, appends); }));
    const auto node = ranks.world->split_shared();
    FB_TRY(comm::agree(*ranks.world, node->rank() == 0 ? behind::clear_staged(options) : Result<>()));
    FB_TRY(by_first(ranks, [&]() -> Result<> {
        auto taken = node::RunLock::take(run_files::writer_lock(options.run));
        if (!taken && taken.error().kind == ErrorKind::retry) return in_use(file);
        if (!taken) return taken.error();
        writing.lock = std::move(*taken);
        if (writing.lock.is_of_host()) warn_of_no_locks("H5PartOpenFile", file);
        return {};
    }));
    FB_TRY_ASSIGN(stays, behind::first_sees(ranks, file));
    writing.stays = stays;
    FB_TRY_ASSIGN(writer, Writer::open(ranks, options, stays));
    writing.writer = std::move(writer);
    return writing;
}

Result<> end_writing(Writing writing) {
    const auto run = run_files::run_of(writing.file);
    const auto snapshots = writing.writer->close(!writing.stays);
    if (snapshots && *snapshots == 0) {  // nothing was appended
        const auto closed = writing.writer->session().close();
        return by_first(writing.ranks, [&]() -> Result<> {
            FB_TRY(closed);
            FB_TRY(sys::remove_tree_at_once(sys::posix_store(), run));
            writing.lock.release();
            return {};
        });
    }
    // After an error too: the steps that were kept make a file, and the session ends in its turn.
    const auto count = snapshots ? *snapshots : writing.writer->saved();
    const auto started = by_first(
        writing.ranks, [&] { return start_making(writing.file, count, writing.settings, writing.align_bytes); });
    closed_files().push_back(std::move(writing));
    FB_TRY(snapshots);
    return started;
}

Result<> await_file(const std::string& file) {
    const auto run = run_files::run_of(file);
    FB_TRY_ASSIGN(has_run, exists(run));
    FB_TRY_ASSIGN(is_made, exists(run_files::made_path(run)));
    if (!has_run || is_made) return {};
    FB_TRY_ASSIGN(set, behind::settings("H5PART"));
    if (!node::run_lock_is_held(run_files::finish_lock(run))) {
        // A writer is still at it: what it appends to may be read.
        FB_TRY_ASSIGN(is_closed, exists(run_files::expected_path(run)));
        FB_TRY_ASSIGN(has_file, exists(file));
        if (node::run_lock_is_held(run_files::writer_lock(run)) && !is_closed)
            return has_file ? Result<>() : Result<>(in_use(file));
        FB_TRY(start_making(file, -1, set, 0));
    }
    return await_making(file, set.options.close_wait);
}

Result<> finish_committed(const Ranks& ranks) {
    auto& files = closed_files();
    auto waiting = static_cast<std::size_t>(
        std::ranges::count_if(files, [&](const Writing& one) { return one.ranks.key == ranks.key; }));
    return finish_where(
        closed_files(),
        [&](const Writing& one) {
            if (one.ranks.key != ranks.key) return false;
            const bool all = one.ranks.world->max(one.writer->committed() ? 0 : 1) == 0;
            const bool now = all || waiting > uncommitted_max;
            if (now) --waiting;
            return now;
        },
        finish);
}

Result<> finish_all(behind::Which which) {
    return finish_where(
        closed_files(), [&](const Writing& one) { return behind::is_of(which, one.ranks); }, finish);
}

}  // namespace forebay::h5part

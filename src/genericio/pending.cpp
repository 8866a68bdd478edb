#include "genericio/pending.hpp"

#include <fmt/format.h>

#include <list>

#include "foreign/genericio_run.hpp"

namespace forebay::genericio {

namespace {

namespace files = foreign::genericio;
using behind::exists, behind::finish_where;

// Sessions of files that are not made yet hold their staging memory: so many at a time.
constexpr std::size_t unfinished_max = 2;

std::list<Writing>& unfinished() {
    static std::list<Writing> writings;
    return writings;
}

Result<> start_making(const Writing& writing, bool compress) {
    const auto run = files::run_of(writing.file);
    const auto& options = writing.settings.options;
    std::vector<std::string> arguments{
        "export",  "genericio", fmt::format("{}/{}@0", run, files::stream_name),     writing.file, "--background",
        "--force", "--wait",    fmt::format("{}", options.close_wait.count() / 1000)};
    if (compress) arguments.emplace_back("--compress");
    if (writing.settings.keep) arguments.emplace_back("--keep");
    const auto started = behind::start(writing.settings, std::move(arguments), files::log_path(run));
    if (started) return {};
    return Error{
        started.error().kind,
        fmt::format("forebay: the making of {} was not started: {} Safe: {}, and what is staged. Next: forebay "
                    "export genericio {}/{}@0 {} --force",
                    writing.file, started.error().text, run, run, files::stream_name, writing.file)};
}

Error not_made(const std::string& file, const std::string& why) {
    const auto run = files::run_of(file);
    return {ErrorKind::retry, fmt::format("forebay: {} is not made: {} Safe: what is committed in {}. Next: forebay "
                                          "export genericio {}/{}@0 {} --force",
                                          file, why, run, run, files::stream_name, file)};
}

behind::Making making_of(const std::string& run) {
    return {run, files::maker_lock(run), files::made_path(run), files::failed_path(run)};
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
        FB_TRY(await_making(writing.file, writing.settings.options.close_wait));
        writing.lock.release();
        // The other half of what the maker does when it ends after the writer.
        if (writing.settings.keep) return {};
        return behind::remove_run(making_of(run), writing.settings.options.close_wait,
                                  [&] { return exists(files::made_path(run)); });
    });
}

/// What earlier writers of the name left: FILE itself stays until the new one takes its place.
Result<> clear(const Settings& settings, const std::string& file) {
    auto& store = sys::posix_store();
    const auto run = files::run_of(file);
    FB_TRY_ASSIGN(has_run, exists(run));
    if (has_run) {
        if (sys::lock_is_held(files::writer_lock(run)))
            return Error{ErrorKind::refused, fmt::format("forebay: {} is being written by another program. Next: wait "
                                                         "for its end, or write to another name.",
                                                         file)};
        // Whatever became of it, it is about to be replaced; but two makers must not meet.
        if (sys::lock_is_held(files::maker_lock(run))) {
            const auto ended = await_making(file, settings.options.close_wait);
            if (sys::lock_is_held(files::maker_lock(run))) FB_TRY(ended);
        }
        FB_TRY(behind::remove_run(making_of(run), settings.options.close_wait, [] { return Result<bool>(true); }));
    }
    return store.make_directories(run);
}

}  // namespace

Result<Writing> begin(const Ranks& ranks, const std::string& file) {
    std::size_t mine = 0;
    for (const auto& one : unfinished()) mine += one.ranks.key == ranks.key ? 1 : 0;
    FB_TRY(finish_where(
        unfinished(),
        [&](const Writing& one) {
            if (one.ranks.key != ranks.key || (one.file != file && mine < unfinished_max)) return false;
            --mine;
            return true;
        },
        finish));
    auto read = behind::settings("GENERICIO");
    FB_TRY(comm::agree(*ranks.world, read ? Result<>() : Result<>(read.error())));
    Writing writing{.ranks = ranks, .file = file, .settings = std::move(*read), .session = {}};
    auto& options = writing.settings.options;
    options.run = files::run_of(file);
    FB_TRY(by_first(ranks, [&] { return clear(writing.settings, file); }));
    const auto node = ranks.world->split_shared();
    FB_TRY(comm::agree(*ranks.world, node->rank() == 0 ? behind::clear_staged(options) : Result<>()));
    FB_TRY(by_first(ranks, [&]() -> Result<> {
        FB_TRY_ASSIGN(taken, sys::FileLock::take(files::writer_lock(options.run)));
        writing.lock = std::move(taken);
        return {};
    }));
    FB_TRY_ASSIGN(session, ranks.open(options));
    writing.session.emplace(std::move(session));
    return writing;
}

Result<> end(Writing writing, bool compress) {
    const auto started = by_first(writing.ranks, [&] { return start_making(writing, compress); });
    unfinished().push_back(std::move(writing));
    return started;
}

Result<> await_file(const std::string& file) {
    const auto run = files::run_of(file);
    FB_TRY_ASSIGN(has_run, exists(run));
    FB_TRY_ASSIGN(is_made, exists(files::made_path(run)));
    if (!has_run || is_made) return {};
    FB_TRY_ASSIGN(set, behind::settings("GENERICIO"));
    FB_TRY_ASSIGN(has_file, exists(file));
    if (!sys::lock_is_held(files::maker_lock(run)) && !sys::lock_is_held(files::writer_lock(run)) && has_file)
        return {};  // a write that died before it was sealed: what was there before it is what there is
    return await_making(file, set.options.close_wait);
}

Result<> finish_all(Which which) {
    return finish_where(
        unfinished(), [&](const Writing& one) { return one.ranks.key.empty() == (which == Which::alone); }, finish);
}

}  // namespace forebay::genericio

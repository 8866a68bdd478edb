// forebay h5part: makes an H5Part file from the run written by the H5Part library.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "bindings/compat/made/file_run.hpp"
#include "bindings/compat/made/h5part/h5part_file.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/wait_until.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "path/agent/leftovers.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct H5partArguments {
    std::string file;
    std::string staging = "/dev/shm";
    std::int64_t snapshots = -1;
    std::uint64_t align = 0;
    double wait_seconds = 0;
    bool keep = false;
    bool partial = false;
    bool background = false;
    bool json = false;
};

bool is_in_use(const std::string& directory) {
    return sys::lock_is_held(node::application_lock_path(directory)) ||
           sys::lock_is_held(node::agent_lock_path(directory));
}

// Snapshots that a dead writer left staged on this node belong to the file. Waits for its agent, or drains them.
Result<> drain_staged(const H5partArguments& options, const std::string& run) {
    constexpr std::chrono::milliseconds pause{50};
    FB_TRY_ASSIGN(directories, node::staging_directories_of(options.staging, run));
    // An agent needs a moment to notice that its writer was killed.
    const auto wait = std::max<std::chrono::milliseconds>(
        node::living_holder_max, std::chrono::milliseconds(static_cast<std::int64_t>(options.wait_seconds * 1000)));
    sys::wait_until(sys::Clock::now() + wait, {pause}, [&] {
        if (std::ranges::none_of(directories, is_in_use)) return true;
        std::ranges::for_each(directories, node::dismiss_lingering);
        return false;
    });
    if (const auto busy = std::ranges::find_if(directories, is_in_use); busy != directories.end())
        return Error{ErrorKind::retry,
                     fmt::format("{} was not made: its writer or the writer's agent still runs, and has steps in {}",
                                 options.file, *busy),
                     "all steps", "repeat the same command when it has ended, or give --wait"};
    for (const auto& [directory, drained] : agent::drain_leftovers(directories, {}, {.remove = true})) {
        if (!drained && drained.error().kind != ErrorKind::missing) return drained.error();
        if (!drained) continue;
        for (const auto& leftover : *drained)
            if (!leftover.committed)
                return Error{ErrorKind::retry, fmt::format("{} is staged in {} and cannot be committed: {}",
                                                           leftover.name(), leftover.staged_path, leftover.text)};
    }
    return {};
}

Result<Exit> make_file(const H5partArguments& options) {
    const auto& file = options.file;
    const made::FileRun run(file);
    const auto begin = [&]() -> Result<> {
        // A writer that closed its file has recorded the number of steps, and its agents drain them.
        const bool closed = options.snapshots >= 0 || std::filesystem::exists(run.expected_path());
        const auto absolute = std::filesystem::absolute(run.path()).lexically_normal().string();  // as in the sessions
        return closed && options.background ? Result<>() : drain_staged(options, absolute);
    };
    Progress progress("making", options.json || options.background);
    const auto wait = std::chrono::milliseconds(static_cast<std::int64_t>(options.wait_seconds * 1000));
    FB_TRY_ASSIGN(result, made::make_h5part_file(
                              sys::posix_store(),
                              {.file = file,
                               .snapshots = options.snapshots,
                               .wait_max = wait,
                               .keep = options.keep,
                               .partial = options.partial,
                               .align_bytes = options.align,
                               .background = options.background,
                               .begin = begin,
                               .progress = [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); }}));
    if (options.json) {
        auto object = Json::object();
        object.set("path", file).set("made", !result.was_there).set("steps", result.steps);
        object.set("datasets", result.datasets).set("bytes", result.bytes).print();
    } else if (result.was_there) {
        say("{} exists. There is nothing to do\n", file);
    } else {
        say("{}  {} new steps, {} datasets, {} bytes\n", file, result.steps, result.datasets, result.bytes);
    }
    return Exit::good;
}

}  // namespace

void add_h5part(CommandLine& line) {
    const auto options = std::make_shared<H5partArguments>();
    auto verb = line.verb(
        "h5part", "Make the H5Part file from the steps that the H5Part library wrote (the library starts this)");
    verb.argument("FILE", options->file, "The H5Part file. Until it is made, its steps are in the run FILE.forebay");
    verb.option("--staging", options->staging, "Look in this directory for staged steps of a dead writer");
    verb.option("--wait", options->wait_seconds, "Wait so many seconds for the commit of the steps");
    verb.option("--snapshots", options->snapshots,
                "Expect so many steps. -1: the number from the writer, or all existing steps");
    verb.option("--align", options->align, "Align datasets of half this size or more to its multiples. 0: 1 MiB");
    verb.flag("--keep", options->keep, "Keep FILE.forebay when the file is durable");
    verb.flag("--partial", options->partial, "Leave out steps that a dead writer drained only in part");
    verb.flag("--background", options->background, "Continue as a background process");
    verb.json(options->json,
              "  An object: path, made (false: the file existed), steps (new steps), datasets, bytes.\n");
    verb.examples(
        "  forebay h5part /scratch/me/dump.h5part\nThe file is complete and durable, or absent. After a crash, run the "
        "command again.\n");
    verb.action([options] { return make_file(*options); });
}

}  // namespace forebay::cli

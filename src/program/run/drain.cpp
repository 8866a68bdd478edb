// forebay drain: commits snapshots that a dead session left staged on this node.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "core/base/error_text.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/process.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/print.hpp"
#include "core/terminal/say.hpp"
#include "path/agent/leftovers.hpp"
#include "path/agent/serve.hpp"
#include "path/node/watch.hpp"
#include "program/run/forwarding.hpp"
#include "program/run_argument.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

constexpr std::uint64_t wait_seconds_max = 1'000'000;

struct DrainArguments {
    std::string directory;
    std::string base = "/dev/shm";
    std::vector<std::string> forward_to;
    std::string token_file;
    std::string into;
    std::uint64_t wait_seconds = 60;
    bool epilog = false;
    bool keep = false;
    bool drop = false;
    bool json = false;
};

// Existing directories of `asked` without a result: their sessions or agents are alive.
std::vector<std::string> passed_over(const std::vector<std::string>& asked,
                                     const std::vector<agent::DrainedDirectory>& drained) {
    std::vector<std::string> left;
    for (const auto& directory : asked) {
        if (std::ranges::find(drained, directory, &agent::DrainedDirectory::directory) != drained.end()) continue;
        const auto watch = node::Watch::open(directory);
        // With --keep, an agent stays after all is committed.
        const bool lingers = watch && watch->page().lingering.load() != 0;
        if (!lingers && std::filesystem::exists(directory)) left.push_back(directory);
    }
    return left;
}

// Slurm runs an Epilog as root. Staged files belong to the job's user, and so does the run.
Result<> become_user_of_job() {
    const char* text = std::getenv("SLURM_JOB_UID");
    const std::string_view digits = text != nullptr ? text : "";
    std::uint32_t user = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), user);
    if (error != std::errc() || end != digits.data() + digits.size())
        return Error{ErrorKind::refused, fmt::format("--epilog: SLURM_JOB_UID is \"{}\"", digits), "",
                     "use --epilog in the Epilog script of Slurm, which sets SLURM_JOB_UID to the user of the job"};
    return sys::become_user(user);
}

// A person sees the runs before they change.
void show_runs(const std::vector<std::string>& directories) {
    Shown text;
    for (const auto& directory : directories)
        if (const auto session = agent::session_of(directory))
            text += lines("{}: of run {}\n", directory, session->run);
    note(text);
}

/// `asked` gets the directories of "all".
Result<std::vector<agent::DrainedDirectory>> drain_asked(const DrainArguments& options,
                                                         std::vector<std::string>& asked) {
    FB_TRY_ASSIGN(forwarding, forwarding_of(options.forward_to, options.token_file));
    agent::LeftoverOptions what{.remove = !options.keep,
                                .forwarding = forwarding,
                                .nodes_wait = std::chrono::seconds(std::min(options.wait_seconds, wait_seconds_max))};
    if (options.directory == "all") {
        if (!options.into.empty() || options.drop)
            return Error{ErrorKind::refused, "--into and --drop need one staging directory, not all", "",
                         "forebay drain all"};
        FB_TRY_ASSIGN(directories, node::staging_directories(options.base));
        asked = std::move(directories);
        if (!options.json) show_runs(asked);
        return agent::drain_leftovers(asked, view_maker(), what);
    }
    if (!options.into.empty()) {
        FB_TRY_ASSIGN(given, run_to_make(sys::target_store(), options.into));
        FB_TRY_ASSIGN(into, given.whole());
        what.into = into;
    }
    const auto session = agent::session_of(options.directory);
    auto drained = agent::drain_leftover(options.directory, view_maker(), what);
    // The old run must not name what another run has now. The old run is often gone.
    if (!what.into.empty() && session && drained && std::ranges::all_of(*drained, &agent::Drained::committed))
        static_cast<void>(agent::remove_status(*session, options.directory));
    if (!drained && drained.error().kind == ErrorKind::missing)
        return Error{ErrorKind::missing,
                     fmt::format("{} is not a staging directory: {}", options.directory, drained.error().what), "",
                     fmt::format("forebay drain all --staging {}", options.base)};
    if (drained && std::ranges::any_of(*drained, &agent::Drained::waiting)) {
        auto again = agent::drain_leftovers({options.directory}, view_maker(), what);
        if (!again.empty()) return again;
    }
    return std::vector{agent::DrainedDirectory{options.directory, std::move(drained)}};
}

// With the next step, if the other nodes of the snapshot did not come in time.
std::string text_of(const agent::Drained& leftover, const std::string& directory) {
    if (!leftover.waiting) return leftover.text;
    return note_line(leftover.text, fmt::format("run forebay drain all on the other nodes of the job, as in srun "
                                                "--ntasks-per-node 1 forebay drain all. If a node is lost for good, "
                                                "forebay drain {} --drop gives this snapshot up",
                                                show_text(directory)));
}

// Dropped snapshots are listed: there is no other copy.
Result<Exit> drop(const DrainArguments& options) {
    // Listed first: after the removal there is nothing left to list.
    FB_TRY_ASSIGN(staged, node::staged_files(options.directory));
    const auto session = agent::session_of(options.directory);
    FB_TRY(node::remove_leftover(options.directory, node::Unpacked::go));
    // Otherwise the run would name the dropped snapshots for ever.
    const auto removed = session ? agent::remove_status(*session, options.directory) : Result<>();
    if (!removed) note(lines("The run still names what was dropped: {}\n", Message{removed.error().line()}));
    auto array = Json::array();
    Shown text;
    for (const auto& file : staged) {
        text += lines("{}@{}: dropped from {}\n", file.stream, file.peek.record.step, file.path);
        auto object = Json::object();
        object.set("directory", options.directory).set("stream", file.stream).set("step", file.peek.record.step);
        array.push(object.set("staged", file.path).set("committed", false).set("text", "dropped"));
    }
    if (options.json) array.print();
    else if (staged.empty()) say("Nothing was staged. The directory is removed.\n");
    else say(text);
    return Exit::good;
}

Result<Exit> drain_all(const DrainArguments& options) {
    if (options.epilog) FB_TRY(become_user_of_job());
    if (options.drop && options.directory != "all") return drop(options);
    std::vector<std::string> asked;
    FB_TRY_ASSIGN(directories, drain_asked(options, asked));
    auto exit = Exit::good;
    auto array = Json::array();
    Shown text;
    for (const auto& [directory, drained] : directories) {
        // A session killed before it recorded its identity has staged nothing.
        if (!drained && drained.error().kind == ErrorKind::missing) continue;
        if (!drained && options.directory != "all") return drained.error();
        if (!drained) {
            exit = Exit::found;
            text += lines("{}: NOT drained: {}\n", directory, Message{drained.error().line()});
            array.push(
                Json::object().set("directory", directory).set("committed", false).set("text", drained.error().line()));
            continue;
        }
        for (const auto& leftover : *drained) {
            if (!leftover.committed) exit = Exit::found;
            const bool is_spool = leftover.step < 0;
            const auto more = leftover.text.empty() ? "" : "\n  " + leftover.text;
            text += leftover.committed ? lines("{}: committed{}\n", leftover.name(), Message{more})
                    : is_spool         ? lines("{}: NOT packed: {}\n", leftover.name(), Message{leftover.text})
                               : lines("{}: NOT committed, staged in {}: {}\n", leftover.name(), leftover.staged_path,
                                       Message{text_of(leftover, directory)});
            auto object = Json::object().set("directory", directory).set("stream", leftover.stream);
            if (!is_spool) object.set("step", leftover.step);
            array.push(object.set("staged", leftover.staged_path)
                           .set("committed", leftover.committed)
                           .set("text", leftover.text));
        }
    }
    for (const auto& directory : passed_over(asked, directories)) {
        const auto* const reason = "its session or its agent still runs";
        exit = Exit::found;
        text += lines("{}: skipped, {}\n", directory, reason);
        array.push(Json::object().set("directory", directory).set("committed", false).set("text", reason));
    }
    if (options.json) array.print();
    else if (text.text.empty())
        say("Nothing is staged in {}. {}if the sessions had another staging directory, give it with --staging\n",
            options.base, next_label);
    else say(text);
    // Slurm takes a node out of service if its Epilog fails.
    return options.epilog ? Exit::good : exit;
}

}  // namespace

void add_drain(CommandLine& line) {
    const auto options = std::make_shared<DrainArguments>();
    auto verb = line.verb("drain", "Commit the snapshots that a dead session left on this node, and free the memory");
    verb.argument("DIR", options->directory,
                  "The staging directory from the error, or \"all\": each of your directories below --staging");
    verb.option(
        "--into", options->into,
        "Commit into this run, which adopts the snapshots. Use it if their run is gone, or replaced by another run");
    verb.option("--wait", options->wait_seconds, "Wait this many seconds for other nodes that drain their part now");
    verb.flag("--epilog", options->epilog,
              "For the Epilog script of Slurm: work as the user of the job. Exit with 0 even if data stays staged");
    verb.flag("--drop", options->drop, "Remove the staged copies in DIR, committed or not");
    verb.flag("--keep", options->keep, "Keep the staged copies after the commit");
    verb.option("--staging", options->base, "Look here with \"all\"");
    verb.option("--forward-to", options->forward_to,
                "Write through a forwarder (forebay forward), HOST:PORT, not directly");
    verb.option("--token-file", options->token_file, "Use the token in this file for the forwarder");
    verb.json(options->json,
              "  An array with an object for each staged snapshot: directory, stream, step, staged, committed, text. "
              "Without\n  step for small files that could not be packed.\n");
    verb.examples(
        "  forebay drain /dev/shm/forebay-1000/run7-8d1f0baa-00f30000c0ffee9a-0\n  forebay drain all\n  forebay drain "
        "/dev/shm/forebay-1000/run7-8d1f0baa-00f30000c0ffee9a-0 --into /scratch/me/run7-saved\nRefused while the "
        "session or its agent runs, and if the run's directory is gone or belongs to another run. Exit code\n1 if "
        "something could not be committed or packed, and stays staged, or if \"all\" skipped a directory whose "
        "session\nor agent runs.\n");
    verb.action([options] { return drain_all(*options); });
}

}  // namespace forebay::cli

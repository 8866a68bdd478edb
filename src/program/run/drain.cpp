// forebay drain: finishes what a dead session left staged on this node.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/base/try.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/say.hpp"
#include "path/agent/leftovers.hpp"
#include "path/node/watch.hpp"
#include "program/run/forwarding.hpp"
#include "program/run_argument.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct DrainArguments {
    std::string directory;
    std::string base = "/dev/shm";
    std::vector<std::string> forward_to;
    std::string token_file;
    std::string into;
    bool keep = false;
    bool drop = false;
    bool json = false;
};

// Those of `asked` that are there still and of which nothing was said: their sessions or agents live.
std::vector<std::string> passed_over(const std::vector<std::string>& asked,
                                     const std::vector<agent::DrainedDirectory>& drained) {
    std::vector<std::string> left;
    for (const auto& directory : asked) {
        if (std::ranges::find(drained, directory, &agent::DrainedDirectory::directory) != drained.end()) continue;
        const auto watch = node::Watch::open(directory);
        // With --keep, an agent that has everything committed goes on keeping it.
        const bool lingers = watch && watch->page().lingering.load() != 0;
        if (!lingers && std::filesystem::exists(directory)) left.push_back(directory);
    }
    return left;
}

/// `asked` are the directories that "all" stands for.
Result<std::vector<agent::DrainedDirectory>> drain_asked(const DrainArguments& options,
                                                         std::vector<std::string>& asked) {
    FB_TRY_ASSIGN(forwarding, forwarding_of(options.forward_to, options.token_file));
    agent::LeftoverOptions what{.remove = !options.keep, .forwarding = forwarding};
    if (options.directory == "all") {
        if (!options.into.empty() || options.drop)
            return Error{ErrorKind::refused, "--into and --drop need one staging directory, not all", "",
                         "forebay drain all"};
        FB_TRY_ASSIGN(directories, node::staging_directories(options.base));
        asked = std::move(directories);
        return agent::drain_leftovers(asked, view_maker(), what);
    }
    if (!options.into.empty()) {
        FB_TRY_ASSIGN(given, run_to_make(sys::target_store(), options.into));
        FB_TRY_ASSIGN(into, given.whole());
        what.into = into;
    }
    auto drained = agent::drain_leftover(options.directory, view_maker(), what);
    if (!drained && drained.error().kind == ErrorKind::missing)
        return Error{ErrorKind::missing,
                     fmt::format("{} is not a staging directory: {}", options.directory, drained.error().what), "",
                     fmt::format("forebay drain all --staging {}", options.base)};
    return std::vector{agent::DrainedDirectory{options.directory, std::move(drained)}};
}

// What is given up is named: nobody else has it.
Result<Exit> drop(const DrainArguments& options) {
    FB_TRY_ASSIGN(staged, node::staged_files(options.directory));
    FB_TRY(node::remove_leftover(options.directory, node::Unpacked::go));
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
    if (options.drop && options.directory != "all") return drop(options);
    std::vector<std::string> asked;
    FB_TRY_ASSIGN(directories, drain_asked(options, asked));
    auto exit = Exit::good;
    auto array = Json::array();
    Shown text;
    for (const auto& [directory, drained] : directories) {
        // A session that was killed before it had written what it is has staged nothing.
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
                                       Message{leftover.text});
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
    else if (text.text.empty()) say("Nothing is staged.\n");
    else say(text);
    return exit;
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

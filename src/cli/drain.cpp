// forebay drain: finishes what a dead session left staged on this node.

#include <fmt/format.h>

#include <memory>

#include "cli/forwarding.hpp"
#include "cli/json.hpp"
#include "cli/say.hpp"
#include "cli/verbs.hpp"
#include "drain/agent.hpp"

namespace forebay::cli {

namespace {

struct Options {
    std::string directory;
    std::string base = "/dev/shm";
    std::vector<std::string> forward_to;
    std::string token_file;
    bool keep = false;
    bool json = false;
};

Result<std::vector<drain::DrainedDirectory>> drain_asked(const Options& options) {
    FB_TRY_ASSIGN(forwarding, forwarding_of(options.forward_to, options.token_file));
    if (options.directory == "all") {
        FB_TRY_ASSIGN(directories, stage::staging_directories(options.base));
        return drain::drain_leftovers(directories, view_maker(), !options.keep, forwarding);
    }
    auto drained = drain::drain_leftover(options.directory, view_maker(), !options.keep, forwarding);
    if (!drained && drained.error().kind == ErrorKind::missing)
        return Error{ErrorKind::missing, fmt::format("{} is not a staging directory: {}\n"
                                                     "  Next: forebay drain all --staging {}",
                                                     options.directory, drained.error().text, options.base)};
    return std::vector{drain::DrainedDirectory{options.directory, std::move(drained)}};
}

Result<Exit> drain_all(const Options& options) {
    FB_TRY_ASSIGN(directories, drain_asked(options));
    auto exit = Exit::good;
    auto array = Json::array();
    Shown text;
    for (const auto& [directory, drained] : directories) {
        // A session that was killed before it had written what it is has staged nothing.
        if (!drained && drained.error().kind == ErrorKind::missing) continue;
        if (!drained) return drained.error();
        for (const auto& one : *drained) {
            if (!one.committed) exit = Exit::found;
            const auto more = one.text.empty() ? "" : "\n  " + one.text;
            text += one.committed ? lines("{}@{}: committed{}\n", one.stream, one.step, Message{more})
                                  : lines("{}@{}: NOT committed, staged in {}: {}\n", one.stream, one.step,
                                          one.staged_path, Message{one.text});
            auto object = Json::object();
            object.set("directory", directory)
                .set("stream", one.stream)
                .set("step", one.step)
                .set("staged", one.staged_path);
            array.push(object.set("committed", one.committed).set("text", one.text));
        }
    }
    if (options.json) array.print();
    else if (text.text.empty()) say("Nothing is staged.\n");
    else say(text);
    return exit;
}

}  // namespace

void add_drain(CommandLine& line) {
    const auto options = std::make_shared<Options>();
    auto verb =
        line.verb("drain", "Finish what a dead session left staged on this node: drain, commit, free the memory");
    verb.argument("DIR", options->directory,
                  "The staging directory that an error named; or \"all\": each one of yours under --staging");
    verb.option("--staging", options->base, "Where \"all\" looks");
    verb.option("--forward-to", options->forward_to,
                "Through a forwarder (forebay forward), HOST:PORT, instead of writing itself");
    verb.option("--token-file", options->token_file, "What admits to it");
    verb.flag("--keep", options->keep, "Keep the staged copies when they are committed");
    verb.json(
        options->json,
        "  An array with an object for each staged snapshot: directory, stream, step, staged, committed, text.\n");
    verb.examples(
        "  forebay drain /dev/shm/forebay-1000/run7-8d1f0baa-0\n"
        "  forebay drain all\n"
        "Refused while the session or its agent lives. Exit code 1 when something could not be committed; it stays "
        "staged.\n");
    verb.action([options] { return drain_all(*options); });
}

}  // namespace forebay::cli

// forebay stagger: runs a command when fewer than --at-once other processes with the same directory run theirs. A turn
// is a lock on a file there: the kernel releases it if the process dies.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "core/base/splitmix.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/store.hpp"
#include "core/sys/wait_until.hpp"
#include "core/terminal/command_line.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

constexpr std::uint64_t stagger_turns_max = 100'000;
constexpr double wait_seconds_max = 31'536'000;
// Thousands of waiting processes poll a shared directory: from every 20 ms down to once a second each.
constexpr sys::Pauses turn_pauses{std::chrono::milliseconds(20), std::chrono::seconds(1)};

struct StaggerArguments {
    std::uint64_t at_once = 0;
    std::string directory = ".", name = "default";
    double wait_seconds = 3600;
    std::vector<std::string> command;
};

// Any free turn, starting with a random turn, so that processes do not all try the same.
Result<std::optional<sys::FileLock>> free_turn(const std::string& directory, std::uint64_t at_once) {
    const auto first = sys::random_u64();
    for (std::uint64_t i = 0; i < at_once; ++i) {
        auto lock = sys::FileLock::take(fmt::format("{}/{}", directory, (first + i) % at_once));
        if (lock) return std::optional(std::move(*lock));
        if (lock.error().kind != ErrorKind::retry) return lock.error();
    }
    return std::optional<sys::FileLock>();
}

Result<Exit> stagger(const StaggerArguments& arguments) {
    if (arguments.at_once < 1 || arguments.at_once > stagger_turns_max)
        return Error{ErrorKind::refused,
                     fmt::format("--at-once must be 1 to {}, not {}", stagger_turns_max, arguments.at_once), "",
                     "forebay stagger --at-once 64 -- COMMAND"};
    if (arguments.command.empty())
        return Error{ErrorKind::refused, "no command is given", "", "forebay stagger --at-once 64 -- COMMAND"};
    if (arguments.name.empty() || arguments.name.find('/') != std::string::npos)
        return Error{ErrorKind::refused, "--name is empty, or has a slash", "", "--name mounts"};
    if (!(arguments.wait_seconds >= 0 && arguments.wait_seconds <= wait_seconds_max))
        return Error{ErrorKind::refused, fmt::format("--wait must be 0 to {} seconds (one year)", wait_seconds_max), "",
                     "--wait 3600"};
    const sys::EndSignals signals;
    const auto turns = fmt::format("{}/.forebay-stagger-{}", arguments.directory, arguments.name);
    if (const auto outcome = sys::posix_store().make_directory(turns); !outcome)
        return with_context(outcome.error(), outcome.error().what, "nothing was started",
                            "give --directory DIR, which all processes see and may write to");
    std::optional<Error> failed;
    std::optional<sys::FileLock> turn;
    const auto look = [&] {
        auto taken = free_turn(turns, arguments.at_once);
        if (taken) turn = std::move(*taken);
        else failed = taken.error();
        return turn.has_value() || failed || signals.come() != 0;
    };
    const auto wait =
        std::chrono::duration_cast<sys::Clock::duration>(std::chrono::duration<double>(arguments.wait_seconds));
    sys::wait_until(sys::Clock::now() + wait, turn_pauses, look);
    if (failed) return *failed;
    if (signals.come() != 0) sys::EndSignals::end_by(signals.come());
    if (!turn)
        return Error{
            ErrorKind::retry,
            fmt::format("all {} turns of {} were taken for {:.0f} s", arguments.at_once, turns, arguments.wait_seconds),
            "nothing was started", "give a longer --wait, or a larger --at-once"};
    const auto code = sys::run_in_front(arguments.command, [&] { return signals.come(); });
    if (!code)
        return with_context(code.error(), code.error().what, "", "give the path of an existing program after --");
    return static_cast<Exit>(*code);
}

}  // namespace

void add_stagger(CommandLine& line) {
    const auto arguments = std::make_shared<StaggerArguments>();
    auto verb = line.verb("stagger", "Run a command on many nodes, but only on a few at a time");
    verb.option("--at-once", arguments->at_once, "Run so many commands at a time");
    verb.option("--directory", arguments->directory,
                "Count commands in this shared directory. Its file system must have locks");
    verb.option("--name", arguments->name, "Count only commands of this name");
    verb.option("--wait", arguments->wait_seconds, "Give up after so many seconds");
    verb.arguments("COMMAND", arguments->command, "The command, after --");
    verb.examples(
        "  srun --ntasks-per-node 1 forebay stagger --at-once 512 -- ./mount-dfuse.sh\n  mpiexec -n 8000 forebay "
        "stagger --at-once 64 --directory /home/me -- ./copy-to-node.sh\nIt exits as the command does. If a process "
        "dies, the next command takes its turn.\n");
    verb.action([arguments] { return stagger(*arguments); });
}

}  // namespace forebay::cli

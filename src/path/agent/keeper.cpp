#include "path/agent/keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/error_text.hpp"
#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/environment.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/store.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

namespace {

constexpr const char* keeper_prefix = "keeper.";
constexpr const char* request_version = "1";
// An environment has at most the size of an argument list, usually 2 MiB.
constexpr std::uint32_t request_bytes_max = 4u << 20, answer_bytes_max = 4096;
constexpr sys::Timeout request_max{5'000}, answer_look{100};
constexpr std::chrono::seconds starting_keeper_max{60};
constexpr std::chrono::seconds hosted_start_max{25};  // less than the session waits

// Sockets of keepers of this job in the user's private directory.
std::vector<std::string> keeper_sockets(const std::string& home) {
    if (const auto id = sys::environment_value(keeper_variable); !id.empty() && id.find('/') == id.npos)
        return {home + "/" + keeper_prefix + id};
    std::vector<std::string> sockets;
    const auto job = job_number();
    if (job.empty()) return sockets;
    const auto begin = fmt::format("{}{}-", keeper_prefix, job);
    const auto entries = sys::posix_store().list(home);
    for (const auto& entry : entries ? *entries : std::vector<sys::Entry>())
        if (entry.name.starts_with(begin)) sockets.push_back(home + "/" + entry.name);
    return sockets;
}

sys::Connection connection_to_keeper(const std::string& directory) {
    // Without FOREBAY_KEEPER, two commands of one job cannot be told apart. Then no keeper is better than a wrong one.
    std::vector<sys::Connection> keepers;
    for (const auto& path : keeper_sockets(parent_of(directory)))
        if (auto open = sys::Connection::open_local(path)) keepers.push_back(std::move(*open));
    return keepers.size() == 1 ? std::move(keepers.front()) : sys::Connection();
}

std::string request_text(const std::string& directory, const sys::Spawn& spawn) {
    // The keeper has another current directory.
    const bool is_path = spawn.program.find('/') != std::string::npos;
    std::error_code failed;
    const auto whole = is_path ? std::filesystem::absolute(spawn.program, failed).string() : spawn.program;
    std::string text;
    const auto add = [&](const std::string& part) { text.append(part).push_back('\0'); };
    add(request_version);
    add(whole);
    add(directory);
    for (const auto& pair : sys::environment_for(spawn)) add(pair);
    return text;
}

Result<> send_request(sys::Connection& keeper, const std::string& text) {
    const auto bytes = static_cast<std::uint32_t>(text.size());
    FB_TRY(keeper.send(std::as_bytes(std::span(&bytes, 1)), request_max));
    return keeper.send(bytes_of(text), request_max);
}

Result<std::vector<std::string>> read_request(sys::Connection& session) {
    std::uint32_t bytes = 0;
    FB_TRY(session.receive(std::as_writable_bytes(std::span(&bytes, 1)), request_max));
    if (bytes == 0 || bytes > request_bytes_max)
        return Error{ErrorKind::corrupt, fmt::format("a request of {} bytes", bytes)};
    std::string text(bytes, '\0');
    FB_TRY(session.receive(std::as_writable_bytes(std::span(text)), request_max));
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\0', at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    constexpr std::size_t parts_min = 3;
    if (parts.size() < parts_min || parts.front() != request_version)
        return Error{ErrorKind::unsupported, "this keeper is of another version than the session"};
    return parts;
}

Result<> start_agent(const std::vector<std::string>& request, const std::string& home) {
    const auto &program = request[1], &directory = request[2];
    if (parent_of(directory) != home)
        return Error{ErrorKind::refused, fmt::format("{} is not a directory of this keeper", directory)};
    sys::Spawn spawn{.program = program,
                     .arguments = {"agent", "--session", directory},
                     .environment = {},
                     .environment_removed = {},
                     .environment_alone = true,
                     .log_path = node::agent_log_path(directory)};
    for (std::size_t i = 3; i < request.size(); ++i) {
        const auto equals = request[i].find('=');
        if (equals == std::string::npos || equals == 0) continue;
        spawn.environment.emplace_back(request[i].substr(0, equals), request[i].substr(equals + 1));
    }
    return sys::spawn_daemon(spawn, hosted_start_max);
}

// A killed keeper leaves its socket. A new socket is spared: its keeper may not listen yet.
void remove_dead_sockets(const std::string& home) {
    const auto entries = sys::posix_store().list(home);
    for (const auto& entry : entries ? *entries : std::vector<sys::Entry>()) {
        if (!entry.name.starts_with(keeper_prefix)) continue;
        const auto path = home + "/" + entry.name;
        std::error_code failed;
        const auto age = std::filesystem::file_time_type::clock::now() - std::filesystem::last_write_time(path, failed);
        if (failed || age < starting_keeper_max || sys::Connection::open_local(path)) continue;
        static_cast<void>(sys::posix_store().remove(path));
    }
}

}  // namespace

std::string job_number() {
    for (const auto* name : {"SLURM_JOB_ID", "PBS_JOBID"}) {
        auto job = sys::environment_value(name);
        std::ranges::replace(job, '/', '_');
        if (!job.empty()) return job;
    }
    return "";
}

Result<bool> ask_keeper(const std::string& directory, const sys::Spawn& spawn, std::chrono::milliseconds timeout) {
    auto keeper = connection_to_keeper(directory);
    if (!keeper.is_open()) return false;
    FB_TRY(send_request(keeper, request_text(directory, spawn)));
    const auto deadline = sys::Clock::now() + timeout;
    std::uint32_t bytes = 0;
    while (true) {
        // The keeper sends these bytes at once.
        const auto answer = keeper.receive(std::as_writable_bytes(std::span(&bytes, 1)), answer_look);
        if (answer) break;
        if (answer.error().kind == ErrorKind::missing || keeper.other_has_left()) return answer.error();
        if (spawn.interrupted && spawn.interrupted())
            return Error{ErrorKind::retry, "interrupted: the wait for the keeper of this node", "",
                         "call again if you did not mean to interrupt"};
        if (sys::Clock::now() >= deadline)
            return Error{ErrorKind::retry,
                         fmt::format("the keeper of this node was silent for {} ms", timeout.count())};
    }
    if (bytes == 0) return true;
    std::string text(std::min(bytes, answer_bytes_max), '\0');
    FB_TRY(keeper.receive(std::as_writable_bytes(std::span(text)), request_max));
    return Error{ErrorKind::broken, fmt::format("the keeper of this node: {}", text)};
}

bool has_keeper(const std::string& directory) { return connection_to_keeper(directory).is_open(); }

bool ends_with_step(const std::string& job, const std::string& step, const std::string& cgroups) {
    const auto is_number = [](const std::string& text) {
        return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    };
    // proctrack/cgroup puts each step into a cgroup: in the hierarchy freezer, or in the only hierarchy of version 2.
    // Other trackers of processes leave a daemon alone.
    for (std::size_t at = 0; is_number(job) && is_number(step) && at < cgroups.size();) {
        const auto end = std::min(cgroups.find('\n', at), cgroups.size());
        const auto line = cgroups.substr(at, end - at);
        const bool tracks = line.starts_with("0::") || line.find(":freezer:") != line.npos;
        if (tracks && line.find("/job_" + job + "/step_") != line.npos) return true;
        at = end + 1;
    }
    return false;
}

std::string step_warning(const std::string& directory) {
    const auto cgroups = sys::kernel_text("/proc/self/cgroup");
    if (!cgroups ||
        !ends_with_step(sys::environment_value("SLURM_JOB_ID"), sys::environment_value("SLURM_STEP_ID"), *cgroups))
        return "";
    if (has_keeper(directory)) return "";
    return note_line(
        "Slurm kills the agents when this job step ends. After a crash, snapshots that are not committed stay in the "
        "memory of the nodes",
        "write this line into the job script: forebay job -- srun --mpi=pmix ./simulation");
}

Result<KeeperDoor> KeeperDoor::open(const std::string& staging, const std::string& id) {
    FB_TRY_ASSIGN(home, node::staging_home(staging));
    remove_dead_sockets(home);
    auto path = home + "/" + keeper_prefix + id;
    FB_TRY_ASSIGN(listener, sys::Listener::open_local(path));
    return KeeperDoor(std::move(listener), std::move(path));
}

KeeperDoor::~KeeperDoor() {
    if (!path_.empty()) static_cast<void>(sys::posix_store().remove(path_));
}

std::string KeeperDoor::serve(std::chrono::milliseconds timeout) {
    auto session = listener_.accept(timeout);
    if (!session || !*session) return "";
    const auto request = read_request(**session);
    if (!request) return "";
    const auto started = start_agent(*request, parent_of(path_));
    const auto text = started ? std::string() : started.error().line().substr(0, answer_bytes_max);
    const auto bytes = static_cast<std::uint32_t>(text.size());
    std::string answer(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    answer += text;
    // A session that has gone needs no answer. Its agent ends by itself.
    static_cast<void>((*session)->send(bytes_of(answer), request_max));
    return started ? (*request)[2] : "";
}

}  // namespace forebay::agent

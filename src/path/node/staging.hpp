// The staging directory of one session on one node:
//
//   BASE/forebay-UID/RUN-HASH-ID-N/     0700; HASH is of the run's path, ID its identity, N the virtual node
//     application.lock, agent.lock      held while the node's first rank and the agent live
//     session.json                      which run, whose, and the agent's options
//     control                           the control page
//     STREAM.0.h5, STREAM.1.h5          the slots
//     agent.log
//     spool/, spool.closed-ID/          small files of the job's programs, until the agent has packed them
//
// Owner: the object holds the mapping of the control page and, on the node's first rank, the application's lock.

#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/format/node_file.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/mapping.hpp"
#include "forebay/options.hpp"
#include "path/node/control.hpp"
#include "path/node/locked_directory.hpp"

namespace forebay::node {

/// The forwarders of a session: hosts that write to its target. Empty where its agents write themselves.
struct Forwarding {
    std::vector<std::string> to;  // the one to begin with first; each an address or several, with commas between them
    std::string token;            // 32 hexadecimal digits
    bool operator==(const Forwarding&) const = default;
};

/// What an agent is to the neighbours of its job: those agents that also write for nodes that are excluded or slow.
struct Neighbourhood {
    std::uint32_t helpers = 0;            // agents that help, numbered from 0; 0: this job has none
    std::optional<std::uint32_t> number;  // of this agent among them
    std::uint32_t first = 0;              // the helper to begin with; the next ones stand in
    bool excluded = false;                // this node writes no node file to the target itself
    bool avoid_slow = true;               // as AgentOptions::avoid_slow_nodes
    std::string address = {};             // of a helper, as AgentOptions::forward_address
    std::string token = {};               // that helpers ask for: 32 hexadecimal digits
    bool operator==(const Neighbourhood&) const = default;
};
inline constexpr std::uint32_t helpers_max = 64;

/// The contents of session.json. It holds the tokens of forwarders and neighbours: the directory is closed to others.
struct SessionFile {
    std::string run;           // absolute
    std::uint64_t run_id = 0;  // its identity; 0: of before runs had one
    std::uint64_t claim = 0;   // catalog::run_lock_key() of the session; 0: of before sessions claimed their run
    std::string host;
    std::int64_t process = 0;
    AgentOptions agent;
    Forwarding forwarding = {};
    Neighbourhood neighbours = {};
    bool adopts = false;  // not in the file: what is staged is of another run, and becomes one of this
};
/// `refused` for settings of an agent that cannot work.
Result<> check(const AgentOptions& agent);
/// `refused` for what decode_session() would not accept.
Result<std::string> encode_session(const SessionFile& session);
Result<SessionFile> decode_session(const std::string& text, const std::string& path);

/// Where the node's part `virtual_index` of the run is staged: below a directory of this user alone, which is made.
/// `base` "" means /dev/shm. `run` is absolute. `missing` when `base` does not exist.
Result<std::string> staging_directory(const std::string& base, const std::string& run, std::uint64_t run_id,
                                      std::uint32_t virtual_index);

/// The last part of that name, "0" where it has none: tells the agents of one machine apart.
std::string virtual_index_of(const std::string& directory);

/// The directory of this user alone under `base` that holds them; it is made.
Result<std::string> staging_home(const std::string& base);

/// Staging directories of this user under `base` (no order), for the tools.
Result<std::vector<std::string>> staging_directories(const std::string& base);
/// Those of `run`, which is absolute, whatever its identity was. What a session that was killed as it began left has no
/// session.json; its name tells.
Result<std::vector<std::string>> staging_directories_of(const std::string& base, const std::string& run);
/// Has the agent leave when what is staged is drained, and seen by its stations; the second without those.
void end_agent(const std::string& directory);
void end_agent_after_drains(const std::string& directory);
/// Has an agent leave, and free the directory, that only keeps what is committed for a restart; another one goes on.
void dismiss_lingering(const std::string& directory);
/// Small files that nobody has packed.
enum class Unpacked { stay, go };
/// Removes what a dead session left, staged files too; with `stay` not a spool with files in it: `retry`, and all of it
/// stays. A session that is ending is waited for as HolderWait says. Its agent is asked to end, and is waited for at
/// most `agent_max`; `say` hears of both. `refused` while the session or its agent lives.
Result<> remove_leftover(const std::string& directory, Unpacked unpacked = Unpacked::stay,
                         std::chrono::milliseconds agent_max = living_holder_max, const Say& say = {});

/// A sealed node file found in a staging directory.
struct StagedFile {
    std::string path;
    std::string stream;
    std::uint32_t number = 0;
    format::Peek peek;
};
Result<std::vector<StagedFile>> staged_files(const std::string& directory);
/// Files of slots that are too short to hold a snapshot: somebody has emptied them.
std::vector<std::string> emptied_files(const std::string& directory);
/// The error of a call in a staging directory whose permissions are wrong, with what is safe and what helps. Any other
/// error stays as it is.
Error not_usable(const std::string& directory, const Error& error);

class Staging {
public:
    /// By the node's first rank: takes over what a dead session left in the directory, whose sealed slots become slots
    /// of this session, to be drained unless they are known to be committed. An agent of the dead session that still
    /// drains is waited for, at most `wait_max`.
    static Result<Staging> create(LockedDirectory locked, const SessionFile& session,
                                  std::chrono::milliseconds wait_max);

    /// By the other ranks of the node, after create(), and by the agent. Who only looks uses Watch.
    static Result<Staging> join(const std::string& directory);

    const std::string& directory() const { return directory_; }
    Control& control() { return *reinterpret_cast<Control*>(mapping_.bytes().data()); }
    const Control& control() const { return *reinterpret_cast<const Control*>(mapping_.bytes().data()); }

    /// Finds the stream's entry or makes it, with its slots. By the node's first rank. `full` when all entries are
    /// taken.
    Result<std::uint32_t> add_stream(const std::string& name, const StreamOptions& options);
    /// The slots of a stream, as indices into Control::slots.
    std::vector<std::uint32_t> slots_of(std::uint32_t stream) const;

    /// Snapshots of a stream that are committed and whose slots are not filled anew. Ids are of one stream: other
    /// streams may have the same.
    std::set<std::uint64_t> committed_snapshots(const std::string& stream) const;

    std::string slot_path(std::uint32_t slot) const;
    bool application_lives() const;
    bool agent_lives() const;

    /// Removes the directory and all in it but a spool with files: `retry`, and all of it stays. By the node's first
    /// rank, when nothing in it is needed any more. What another error leaves is a staging directory still.
    Result<> remove();

private:
    friend class Watch;
    static Result<Staging> map(const std::string& directory, bool writable);

    std::string directory_;
    sys::Mapping mapping_;
    sys::FileLock lock_;
};

std::string session_path(const std::string& directory);
/// The session as `forebay drain` serves it, perhaps through other forwarders and into a run that was moved: for the
/// programs that it starts, as long as it does.
std::string drained_as_path(const std::string& directory);
std::string application_lock_path(const std::string& directory);
std::string agent_lock_path(const std::string& directory);
std::string agent_log_path(const std::string& directory);
std::string spool_path(const std::string& directory);

}  // namespace forebay::node

// The staging directory of one session on one node:
//
//   BASE/forebay-UID/RUN-HASH-ID-N/  0700; HASH of the run's path, ID its identity, N the virtual node
//       application.lock, agent.lock   held while the node's first rank and the agent live
//       session.json                   the run, its session, and the agent's options
//       control                        the control page
//       STREAM.0.h5, STREAM.1.h5       the slots
//       agent.log
//       spool/, spool.closed-ID/       small files of the job's programs, until the agent packs them
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

/// The forwarders of a session: hosts that write to its target. Empty if the agents write to the target themselves.
struct Forwarding {
    std::vector<std::string> to;  // first choice first; each is one address, or several with commas between them
    std::string token;            // 32 hexadecimal digits
    bool operator==(const Forwarding&) const = default;
};

/// The agent's place among the neighbours of its job: the agents that also write for excluded or slow nodes.
struct Neighbourhood {
    std::uint32_t helpers = 0;            // agents that help, numbered from 0; 0: this job has none
    std::optional<std::uint32_t> number;  // this agent's number among them
    std::uint32_t first = 0;              // the first helper to try; the next helpers replace it
    bool excluded = false;                // this node writes no node files to the target itself
    bool avoid_slow = true;               // as AgentOptions::avoid_slow_nodes
    std::string address = {};             // of a helper, as AgentOptions::forward_address
    std::string token = {};               // helpers require it: 32 hexadecimal digits
    bool operator==(const Neighbourhood&) const = default;
};
inline constexpr std::uint32_t helpers_max = 64;

/// The contents of session.json. It has the tokens of forwarders and neighbours, so the directory is closed to other
/// users.
struct SessionFile {
    std::string run;           // absolute
    std::uint64_t run_id = 0;  // its identity; 0: older than identities
    std::uint64_t claim = 0;   // catalog::run_lock_key() of the session; 0: older than run locks
    std::string host;
    std::int64_t process = 0;
    AgentOptions agent;
    Forwarding forwarding = {};
    Neighbourhood neighbours = {};
    bool adopts = false;  // not in the file: staged snapshots of another run become snapshots of this run
};
/// `refused` if an agent cannot work with these options.
Result<> check(const AgentOptions& agent);
/// `refused` if decode_session() would not accept the result.
Result<std::string> encode_session(const SessionFile& session);
Result<SessionFile> decode_session(const std::string& text, const std::string& path);

/// The staging directory of virtual node `virtual_index` of the run, in a private directory of this user. Makes the
/// private directory. `base` "" means /dev/shm. `run` is absolute. `missing` if `base` does not exist.
Result<std::string> staging_directory(const std::string& base, const std::string& run, std::uint64_t run_id,
                                      std::uint32_t virtual_index);

/// The last part of that name, "0" if it has none. It distinguishes the agents of one machine.
std::string virtual_index_of(const std::string& directory);

/// This user's private directory below `base`, the parent of all staging directories. Makes it.
Result<std::string> staging_home(const std::string& base);

/// Staging directories of this user below `base`, in no order, for the tools.
Result<std::vector<std::string>> staging_directories(const std::string& base);
/// The staging directories of `run`, an absolute path, with any identity. After a session was killed early there is no
/// session.json; then the name decides.
Result<std::vector<std::string>> staging_directories_of(const std::string& base, const std::string& run);
/// Asks the agent to leave when the staged snapshots are drained and all stations are done; the second skips the
/// stations.
void end_agent(const std::string& directory);
void end_agent_after_drains(const std::string& directory);
/// Makes an agent leave and free the directory if it only keeps committed snapshots for a restart. Any other agent
/// works on.
void dismiss_lingering(const std::string& directory);
/// What to do with small files that nobody packed.
enum class Unpacked { stay, go };
/// Removes a dead session's directory with its staged files. With `stay` and a spool with files: `retry`, and
/// everything stays. Waits for a session that is ending, as HolderWait. Asks its agent to end and waits at most
/// `agent_max`; `say` gets the reasons of both waits. `refused` while the session or its agent lives.
Result<> remove_leftover(const std::string& directory, Unpacked unpacked = Unpacked::stay,
                         std::chrono::milliseconds agent_max = living_holder_max, const Say& say = {});

/// A sealed node file in a staging directory.
struct StagedFile {
    std::string path;
    std::string stream;
    std::uint32_t number = 0;
    format::Peek peek;
};
Result<std::vector<StagedFile>> staged_files(const std::string& directory);
/// Slot files that are too short for a snapshot: somebody emptied them.
std::vector<std::string> emptied_files(const std::string& directory);
/// For errors of calls in a staging directory: if its permissions are wrong, adds `safe` and `next`. Any other error
/// stays unchanged.
Error not_usable(const std::string& directory, const Error& error);

class Staging {
public:
    /// Takes over the directory of a dead session. Its sealed slots become slots of this session and are drained,
    /// unless they are known to be committed. Waits at most `wait_max` for an agent of the dead session that still
    /// drains. Only the node's first rank may call it.
    static Result<Staging> create(LockedDirectory locked, const SessionFile& session,
                                  std::chrono::milliseconds wait_max);

    /// For the node's other ranks, after create(), and for the agent. Use Watch to only read.
    static Result<Staging> join(const std::string& directory);

    const std::string& directory() const { return directory_; }
    Control& control() { return *reinterpret_cast<Control*>(mapping_.bytes().data()); }
    const Control& control() const { return *reinterpret_cast<const Control*>(mapping_.bytes().data()); }

    /// Finds or makes the stream's entry with its slots. Only the node's first rank may call it. `full` if all entries
    /// are used.
    Result<std::uint32_t> add_stream(const std::string& name, const StreamOptions& options);
    /// The slots of a stream, as indices into Control::slots.
    std::vector<std::uint32_t> slots_of(std::uint32_t stream) const;

    /// Committed snapshots of a stream whose slots have not been filled again. Ids are unique only in a stream.
    std::set<std::uint64_t> committed_snapshots(const std::string& stream) const;

    std::string slot_path(std::uint32_t slot) const;
    bool application_lives() const;
    bool agent_lives() const;

    /// Removes the directory. If a spool has files: `retry`, and everything stays. After any other error it is still a
    /// staging directory. Only the node's first rank may call it, when nothing in it is needed any more.
    Result<> remove();

private:
    friend class Watch;
    static Result<Staging> map(const std::string& directory, bool writable);

    std::string directory_;
    sys::Mapping mapping_;
    sys::FileLock lock_;
};

std::string session_path(const std::string& directory);
/// The session as `forebay drain` serves it, perhaps through other forwarders and into a moved run. It exists for the
/// programs started by the drain, as long as the drain runs.
std::string drained_as_path(const std::string& directory);
std::string application_lock_path(const std::string& directory);
std::string agent_lock_path(const std::string& directory);
std::string agent_log_path(const std::string& directory);
std::string spool_path(const std::string& directory);

}  // namespace forebay::node

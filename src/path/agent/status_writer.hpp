// Shows the current state of this node's agent in the run, for monitors: it overwrites the status of
// docs/formats/status.md again and again. If the session asks for it, it also writes the numbers to a local file of
// metrics. This is a thread of the agent's host beside the agent's loop.
//
// Nothing depends on it: a status that cannot be written is lost, and reported once. A write that hangs in a dead
// target does not delay the loop. It delays the end of the agent by at most StatusPace::end_max: then the thread is
// left behind.
//
// Cost of a status at the target: one open, one write of 4096 bytes, and one check of the run's identity.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/format/status_line.hpp"
#include "core/sys/store.hpp"
#include "core/sys/thread.hpp"
#include "path/agent/event_sinks.hpp"
#include "path/agent/events.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

/// All agents of a job together write this many files a second, for any job size: 200 x 4096 bytes are 0.8 MB/s, and
/// any metadata server can spare some hundred opens a second.
struct StatusPace {
    std::chrono::milliseconds least{1'000};
    int files_per_second = 200;
    std::chrono::milliseconds end_max{2'000};  // for the last write, and a running write

    /// max(least, nodes / files_per_second): 1 s up to 200 nodes, 40.5 s with 8,100.
    std::chrono::milliseconds period(std::uint32_t nodes) const;
};

/// The constant facts about an agent.
struct StatusOf {
    NodeFileOfRun file;              // the writer sets its name and ending
    std::string agent;               // see StatusLine::agent
    std::string metrics_path = {};   // the file of metrics; "": none
    std::int64_t began_unix_ns = 0;  // of the agent; 0: with the writer
};

/// The status from the page. The caller fills in `state` and the newest texts.
format::StatusLine status_of(const node::Control& page);

class StatusWriter {
public:
    /// `staging` and `tell` must outlive it. It does not hear its own events. With `only`, a state, it writes only one
    /// status, the last.
    StatusWriter(std::shared_ptr<sys::Store> store, node::Staging& staging, StatusOf of, Tell tell,
                 const StatusPace& pace = {}, const std::string& only = {});
    StatusWriter(const StatusWriter&) = delete;
    StatusWriter& operator=(const StatusWriter&) = delete;
    /// Like end("left"), if it has not ended.
    ~StatusWriter();

    /// Keeps errors and sentences. After a failure it soon writes one more status. Any thread may call.
    void hear(const Event& event);

    /// Writes the last status, with this state. The next status comes after `next` at the earliest. Returns when it is
    /// written, or after StatusPace::end_max. Removes the file of metrics. Later calls do nothing.
    void end(const std::string& state, std::chrono::milliseconds next = {});

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this object in a dead mount
    sys::Thread thread_;
};

}  // namespace forebay::agent

// Shows in the run what the agent of this node does just now, for monitors: the status of docs/formats/status.md, over
// itself again and again; and, where the session wants that, the same numbers as a file of metrics on this machine. It
// is a thread of the agent's host beside the agent's loop.
//
// Nothing depends on it: a status that cannot be written is lost, and told once. A write that hangs in a dead target
// holds neither the loop nor, for longer than StatusPace::end_max, the end of the agent: the thread is left behind.
//
// Cost of a status: at the target one open and one write of 4096 bytes, and one question for the identity of the run.

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

/// All agents of a job together write so many files a second, whatever its size: 200 x 4096 bytes are 0.8 MB/s, and
/// some hundred opens a second are what any metadata server has to spare.
struct StatusPace {
    std::chrono::milliseconds least{1'000};
    int files_per_second = 200;
    std::chrono::milliseconds end_max{2'000};  // the last write, and one under way

    /// max(least, nodes / files_per_second): 1 s up to 200 nodes, 40.5 s with 8,100.
    std::chrono::milliseconds period(std::uint32_t nodes) const;
};

/// What is told of an agent and does not change.
struct StatusOf {
    NodeFileOfRun file;              // its name and ending are set by the writer
    std::string agent;               // as StatusLine::agent
    std::string metrics_path = {};   // of the file of metrics; "": none
    std::int64_t began_unix_ns = 0;  // the agent; 0: with the writer
};

/// What the page says; `state` and the newest texts are the caller's to fill in.
format::StatusLine status_of(const node::Control& page);

class StatusWriter {
public:
    /// `staging` and `tell` must outlive it. `tell` is not heard by it.
    /// With `only`, a state, it writes one status, the last one.
    StatusWriter(std::shared_ptr<sys::Store> store, node::Staging& staging, StatusOf of, Tell tell,
                 const StatusPace& pace = {}, const std::string& only = {});
    StatusWriter(const StatusWriter&) = delete;
    StatusWriter& operator=(const StatusWriter&) = delete;
    /// As end("left"), where it has not ended.
    ~StatusWriter();

    /// Remembers errors and sentences; one more status is written soon after a failure. From any thread.
    void hear(const Event& event);

    /// Writes the last status, with this state and no next one before `next`, and returns when it is written, or after
    /// StatusPace::end_max. Removes the file of metrics. Later calls do nothing.
    void end(const std::string& state, std::chrono::milliseconds next = {});

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this object in a dead mount
    sys::Thread thread_;
};

}  // namespace forebay::agent

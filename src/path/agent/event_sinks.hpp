// Sinks of an agent's events besides its log: the control page, for programs that watch the node, and the run, for
// later questions about its course.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/sys/store.hpp"
#include "path/agent/events.hpp"
#include "path/node/control.hpp"

namespace forebay::agent {

/// Writes each event into the ring of the page (node/event_ring.hpp). The page must outlive it.
Tell to_page(node::Control& page);

/// The size of a node's file in a run before it is renamed to .old. It holds the events of some 20,000 snapshots: one
/// per minute for two weeks.
inline constexpr std::uint64_t node_file_bytes_max = 4u << 20;

/// A file of one node in a run: events (docs/formats/events.md), or the output of its scripts. Agents of one machine
/// have different virtual nodes, so no two agents write the same file.
struct NodeFileOfRun {
    std::string run;
    std::uint64_t run_id = 0;  // nothing is written if another run lies there now
    std::string host, virtual_node;
    std::string name = "events", ending = "jsonl";
    std::uint64_t bytes_max = node_file_bytes_max;

    std::string path() const;      // RUN/forebay/events-HOST-N.jsonl
    std::string old_path() const;  // RUN/forebay/events-HOST-N.old.jsonl
};

/// Appends `text`. If the file would grow past its bytes_max, it is renamed to old_path() first.
Result<> append(sys::Store& store, const NodeFileOfRun& file, const std::string& text);

/// Writes a line for each snapshot that the agent committed, set aside or failed to drain. A line that cannot be
/// written is lost, and no drain fails because of it. The first of several errors in a row goes to `tell`. `store` must
/// outlive it.
Tell to_run(sys::Store& store, const NodeFileOfRun& file, Tell tell);

/// The record as one line with a line feed.
std::string record_of(const Event& event, const std::string& host, std::int64_t unix_ns);

}  // namespace forebay::agent

// Where an agent's events go besides its log: onto the control page, for programs that watch the node, and into the
// run, for those who ask later how it went.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/sys/store.hpp"
#include "path/agent/events.hpp"
#include "path/node/control.hpp"

namespace forebay::agent {

/// Each event, into the ring of the page (node/event_ring.hpp). The page must outlive it.
Tell to_page(node::Control& page);

/// Of a file of a node in a run, before it is put aside: of events, some 20,000 snapshots, one a minute for two weeks.
inline constexpr std::uint64_t node_file_bytes_max = 4u << 20;

/// A file of one node in a run: events (docs/formats/events.md), and what its scripts print. Agents of one machine have
/// different virtual nodes, so that no two of them write one file.
struct NodeFileOfRun {
    std::string run;
    std::uint64_t run_id = 0;  // nothing is written into another run that lies there now
    std::string host, virtual_node;
    std::string name = "events", ending = "jsonl";
    std::uint64_t bytes_max = node_file_bytes_max;

    std::string path() const;      // RUN/forebay/events-HOST-N.jsonl
    std::string old_path() const;  // RUN/forebay/events-HOST-N.old.jsonl
};

/// Adds to its end. What is there is first put aside as old_path(), where the file would grow past its bytes_max.
Result<> append(sys::Store& store, const NodeFileOfRun& file, const std::string& text);

/// One line for each snapshot that the agent has committed, set aside or failed to drain. A line that cannot be written
/// is lost, and no drain fails by it; of errors in a row the first is told to `tell`. `store` must outlive it.
Tell to_run(sys::Store& store, const NodeFileOfRun& file, Tell tell);

/// The line, with a line feed.
std::string record_of(const Event& event, const std::string& host, std::int64_t unix_ns);

}  // namespace forebay::agent

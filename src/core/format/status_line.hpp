// The status of a node's agent in the run, for monitors on any host that sees the run. The agent writes it again and
// again over the same 4096 bytes: RUN/forebay/status-HOST-N.json. Bytes: docs/formats/status.md.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/describe/counter_list.hpp"
#include "forebay/result.hpp"

namespace forebay::format {

struct SlotStatus {
    std::string state;  // "empty", "filling", "sealed", "draining", "drained", "committed", "failed"
    std::int64_t step = -1;
    std::uint64_t bytes = 0, drained_bytes = 0;  // of the node file; drained of it so far
    std::int64_t sealed_unix_ns = 0;
};

struct StreamStatus {
    std::string name;
    describe::StreamCounts<describe::Plain> counts = {};  // on this node
    std::vector<SlotStatus> slots = {};
};

struct StatusLine {
    std::int64_t unix_ns = 0;   // when it was written
    double period_seconds = 0;  // pause until the next status; after three of them readers call it stale
    std::string host, virtual_node;
    std::string agent;                     // as TimingBatch::agent
    std::string state;                     // docs/formats/status.md: "serving", "lingering", "ended", "died" or "left"
    std::uint32_t session = 0, nodes = 0;  // of the session; 0: unknown
    bool application_lives = false;
    std::int64_t began_unix_ns = 0;     // of the agent
    std::int64_t job_ends_unix_ns = 0;  // end of the job, from the batch system; 0: unknown
    describe::NodeCounts<describe::Plain> counts = {};
    std::string last_error, why;  // the newest of each; "": none
    std::vector<StreamStatus> streams = {};
    std::uint32_t streams_left_out = 0;  // because there was no room
    std::string path;                    // of the file; not in the file: its reader sets it
    bool is_gone = false;  // not in the file: its reader has seen that the agent is gone (telemetry/here.hpp)
};

inline constexpr std::size_t status_bytes = 4096;

/// Returns exactly status_bytes bytes: JSON, a checksum, blanks and a line feed. Long texts are cut, streams are left
/// out.
std::string encode(const StatusLine& line);
/// `corrupt` for a text that encode() did not write, also for a torn line.
Result<StatusLine> decode_status(std::string_view text, const std::string& path);

}  // namespace forebay::format

// The contents of `forebay top` at one moment, from the run's chronicle: numbers and names, no layout. Names are as in
// the files: escape them before you show them.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "path/catalog/catalog.hpp"
#include "path/telemetry/chronicle.hpp"
#include "path/telemetry/standing.hpp"
#include "path/telemetry/summary.hpp"

namespace forebay::cli {

struct TopNode {
    std::string name;
    std::string state;       // of its status; "silent": stale; "": no status
    std::int64_t step = -1;  // of its newest slot
    double progress = 0;     // of that drain
    std::string slot_state;
    double rate = 0;        // of the present drain
    double drain_rate = 0;  // median of its drains; 0: unknown
    double ratio = 0;       // drain_rate / median of all nodes; 0: unknown
    std::uint64_t backlog_bytes = 0, failures = 0;
    std::int64_t unix_ns = 0;  // of its status
};

/// A snapshot in the nodes' slots.
struct TopSlots {
    std::string stream;
    std::int64_t step = -1;
    std::uint64_t bytes = 0, drained_bytes = 0;
    std::vector<std::pair<std::string, std::uint64_t>>
        states;  // with the number of nodes, in the order of a slot's life
};

struct TopStream {
    std::string name;
    describe::StreamCounts<describe::Plain> counts;  // largest of all nodes
    std::vector<TopSlots> slots;                     // newest step first
};

struct TopSentence {
    std::int64_t unix_ns = 0;
    std::string node, text;
    bool is_way = false;  // about the way of bytes; holds until the next such sentence
};

struct TopView {
    std::string run;
    std::uint32_t session = 0;
    telemetry::RunState state = telemetry::RunState::unknown;
    std::uint32_t nodes = 0, nodes_told = 0;  // nodes of the session; nodes with a fresh or final status
    std::int64_t now_unix_ns = 0, newest_status_unix_ns = 0, job_ends_unix_ns = 0;
    double rate_in = 0, rate_out = 0;  // of the newest snapshot over its interval; of all nodes now
    std::uint64_t backlog_bytes = 0, failures = 0;
    double slowdown_percent = 0;
    std::vector<double> blocked_seconds;    // of the last saves, newest last
    std::vector<TopStream> streams;         // by name
    std::vector<catalog::Snapshot> newest;  // newest committed snapshot of each stream, by any session
    std::vector<TopNode> nodes_shown;       // by name
    std::vector<TopSentence> errors, why;   // newest first, each text once
    telemetry::Summary summary;
};

/// The newest committed snapshot of each stream of states, from directory names. An earlier session, a recover or a
/// drain may have committed it: then no agent of this session knows it.
Result<std::vector<catalog::Snapshot>> newest_snapshots(sys::Store& store, const std::string& run);

/// For the newest session; with `all` also nodes that only earlier sessions had.
TopView top_view(telemetry::Chronicle chronicle, std::int64_t now_unix_ns, bool all,
                 std::vector<catalog::Snapshot> newest = {});

enum class NodeOrder { slowest, backlog, failures, name };
inline constexpr std::array node_orders{NodeOrder::slowest, NodeOrder::backlog, NodeOrder::failures, NodeOrder::name};
/// "slowest"
const char* name_of(NodeOrder order);
void sort(std::vector<TopNode>& nodes, NodeOrder order);

}  // namespace forebay::cli

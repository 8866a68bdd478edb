// What `forebay top` shows of a run at one moment, worked out of its chronicle: numbers and names, no rendering. Names
// are as they stand in the files, so that who shows them escapes them.

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
    std::string state;       // of its status; "silent": stale; "": it has none
    std::int64_t step = -1;  // of its newest slot
    double progress = 0;     // of that drain
    std::string slot_state;
    double rate = 0;        // it drains with just now
    double drain_rate = 0;  // its median over drains; 0: unknown
    double ratio = 0;       // of that to the median of all nodes; 0: unknown
    std::uint64_t backlog_bytes = 0, failures = 0;
    std::int64_t unix_ns = 0;  // of its status
};

/// A snapshot in the slots of the nodes.
struct TopSlots {
    std::string stream;
    std::int64_t step = -1;
    std::uint64_t bytes = 0, drained_bytes = 0;
    std::vector<std::pair<std::string, std::uint64_t>> states;  // and how many nodes; in the order of a slot's life
};

struct TopStream {
    std::string name;
    describe::StreamCounts<describe::Plain> counts;  // the greatest of any node
    std::vector<TopSlots> slots;                     // newest step first
};

struct TopSentence {
    std::int64_t unix_ns = 0;
    std::string node, text;
    bool is_way = false;  // of how bytes go, which holds until another such sentence says otherwise
};

struct TopView {
    std::string run;
    std::uint32_t session = 0;
    telemetry::RunState state = telemetry::RunState::unknown;
    std::uint32_t nodes = 0, nodes_told = 0;  // of the session; those with a fresh or final status
    std::int64_t now_unix_ns = 0, newest_status_unix_ns = 0, job_ends_unix_ns = 0;
    double rate_in = 0, rate_out = 0;  // of the newest snapshot over its interval; of all nodes just now
    std::uint64_t backlog_bytes = 0, failures = 0;
    double slowdown_percent = 0;
    std::vector<double> blocked_seconds;    // of the last saves, the newest last
    std::vector<TopStream> streams;         // by name
    std::vector<catalog::Snapshot> newest;  // of the run: the newest committed of each stream, whoever committed it
    std::vector<TopNode> nodes_shown;       // by name
    std::vector<TopSentence> errors, why;   // newest first, each text once
    telemetry::Summary summary;
};

/// The newest committed snapshot of each stream of states, by the names of directories. An earlier session may have
/// saved it, or a recover or a drain has committed it: no agent of this session knows it.
Result<std::vector<catalog::Snapshot>> newest_snapshots(sys::Store& store, const std::string& run);

/// Of the newest session; with `all` also nodes that only earlier ones had.
TopView top_view(telemetry::Chronicle chronicle, std::int64_t now_unix_ns, bool all,
                 std::vector<catalog::Snapshot> newest = {});

enum class NodeOrder { slowest, backlog, failures, name };
inline constexpr std::array node_orders{NodeOrder::slowest, NodeOrder::backlog, NodeOrder::failures, NodeOrder::name};
/// "slowest"
const char* name_of(NodeOrder order);
void sort(std::vector<TopNode>& nodes, NodeOrder order);

}  // namespace forebay::cli

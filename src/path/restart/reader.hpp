// Reads a chosen snapshot into the memory of the ranks: staged copies through their mapping, other node files through a
// window that the ranks of a node share, each segment read once a node and verified.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/comm/group.hpp"
#include "core/format/segments.hpp"
#include "core/sys/crew.hpp"
#include "path/restart/choose.hpp"
#include "path/restart/plan.hpp"
#include "path/restart/window.hpp"

namespace forebay::restart {

/// Things that one read of a snapshot leaves for the next, since codes read variable by variable: heads of node files,
/// as many as limits::kept_heads_bytes allow, and the window.
struct Kept {
    struct Head {
        format::NodeFile file;
        std::vector<format::Segment> segments;
    };
    std::map<std::size_t, Head> heads;  // by index into Manifest::nodes; the same on all ranks of a node
    std::uint64_t heads_bytes = 0;
    std::optional<Window> window;
};

struct ReaderContext {
    comm::Topology* topology = nullptr;
    sys::Store* store = nullptr;
    std::string window_path;         // a file on the node for the shared window
    std::uint64_t window_bytes = 0;  // of the node
    Kept* kept = nullptr;
    sys::Crew* crew = nullptr;  // the threads of this rank that copy
};

/// The rows of each table that this rank gets: its own blocks where the rank counts agree. Collective.
Result<std::vector<std::uint64_t>> rows_of(const ReaderContext& context, const Choice& choice, const Plan& plan,
                                           const describe::Binding& binding);

/// Maps the staged copies that this rank takes from, and faults in what it takes, so that read() runs at memory speed.
/// The tables' addresses need not be bound yet. Collective.
Result<> map_staged(const ReaderContext& context, Choice& choice, const Plan& plan, const describe::Binding& binding);

/// Reads everything the plan takes. Collective; every rank gets the worst error. Whether every rank got all that it
/// asked for: false where an array of partial coverage has holes, which keep what was in memory. After an error the
/// memory may hold anything, bytes that failed their checksum too.
Result<bool> read(const ReaderContext& context, Choice& choice, const Plan& plan, const describe::Binding& binding);

}  // namespace forebay::restart

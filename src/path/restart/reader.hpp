// Reads a chosen snapshot into the memory of the ranks: staged copies through their mapping, other node files through a
// window shared by the ranks of a node. Each segment is read and verified once on each node.

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

/// State between two reads of a snapshot, because codes read variable by variable: heads of node files, up to
/// limits::kept_heads_bytes, and the window.
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
    std::uint64_t window_bytes = 0;  // on each node
    Kept* kept = nullptr;
    sys::Crew* crew = nullptr;  // this rank's threads for copies
};

/// The rows of each table for this rank: its own blocks if the rank counts agree, else its share. Collective.
Result<std::vector<std::uint64_t>> rows_of(const ReaderContext& context, const Choice& choice, const Plan& plan,
                                           const describe::Binding& binding);

/// Maps the staged copies that this rank needs, and faults in the needed pages, so that read() runs at memory speed.
/// The tables' addresses need not be bound yet. Collective.
Result<> map_staged(const ReaderContext& context, Choice& choice, const Plan& plan, const describe::Binding& binding);

/// Reads everything in the plan. Collective; every rank gets the worst error. True if every rank got all bytes that it
/// asked for. False if an array of partial coverage has holes: the memory there is unchanged. After an error the memory
/// may hold any bytes, also bytes with a wrong checksum.
Result<bool> read(const ReaderContext& context, Choice& choice, const Plan& plan, const describe::Binding& binding);

}  // namespace forebay::restart

// The commit of a slot that the agent has drained: the agent commits the snapshot once all nodes have brought their
// part, and then, for all nodes, has views made and keeps the stream's retention window.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/format/node_file.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/store.hpp"
#include "path/agent/events.hpp"
#include "path/agent/schedule.hpp"
#include "path/agent/slots.hpp"
#include "path/agent/view_maker.hpp"
#include "path/catalog/catalog.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

class Committer {
public:
    /// All of them must outlive it.
    Committer(sys::Store& store, const node::SessionFile& session, const Schedule& schedule, Slots& slots,
              ViewMaker make_view, const Tell& tell);

    /// One look at each slot that waits for other nodes; true when the state of one has changed.
    bool commit_drained();
    /// The same for one slot.
    bool commit(std::uint32_t slot);
    /// Whether slots wait for other nodes, and commit_drained() was called long ago. By any thread of a drain.
    bool is_due() const;

    /// Paths of what stood under names of views of snapshots that it replaced or removed, and was none.
    const std::set<std::string>& others() const { return others_; }

private:
    bool part_gone(std::uint32_t slot, const format::Record& record);
    void tell_set_aside(std::uint32_t slot, const format::Record& record);
    void tell_later(const catalog::Snapshot& snapshot, std::uint32_t session);
    void end(std::uint32_t slot, const format::Record& record, bool by_us);
    void make_views(std::uint32_t slot, const catalog::Snapshot& snapshot);
    void keep_window(std::uint32_t slot, const catalog::Snapshot& snapshot, const format::Line& line);
    void tell_of(const std::string& stream, const std::vector<std::string>& others);

    sys::Store& store_;
    const node::SessionFile& session_;
    const Schedule& schedule_;
    Slots& slots_;
    const ViewMaker make_view_;
    const Tell& tell_;
    std::array<std::optional<format::Line>, node::streams_max> named_lines_;  // whose names are in order, by stream
    std::set<std::string> others_;                                            // each is told once
    std::atomic<sys::Clock::time_point> looked_at_{};
};

}  // namespace forebay::agent

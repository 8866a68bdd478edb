// Commits a drained slot: the agent commits the snapshot when all nodes have delivered their part. Then it makes views
// for all nodes and keeps the stream's retention window.

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
    /// All arguments must outlive it.
    Committer(sys::Store& store, const node::SessionFile& session, const Schedule& schedule, Slots& slots,
              ViewMaker make_view, const Tell& tell);

    /// Looks once at each slot that waits for peers. True if the state of a slot changed.
    bool commit_drained();
    /// The same for one slot.
    bool commit(std::uint32_t slot);
    /// True if slots wait for peers and the last commit_drained() was long ago. Any thread of a drain may call.
    bool is_due() const;

    /// Paths that have the name of a view of a replaced or removed snapshot but are no views.
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
    std::array<std::optional<format::Line>, node::streams_max> named_lines_;  // their names are in order, by stream
    std::set<std::string> others_;                                            // each path is reported once
    std::atomic<sys::Clock::time_point> looked_at_{};
};

}  // namespace forebay::agent

// Fulfilled conditions of analyses on their way to the application. The first rank of each node collects the conditions
// of its node. Session::job() gives all ranks one condition a call, the most urgent first.
//
// Two nodes may find the same condition, if each has seen the parts of all nodes. The application gets it once, and
// once more only if the second report asks for more. It does not get a condition of a save that it abandoned by going
// back. A node keeps at most conditions_waiting_max conditions and drops the least urgent; the agent's log has all. The
// run keeps conditions that a session did not deliver for the next session (catalog/flagged.hpp).

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "path/node/flagged.hpp"

namespace forebay {

/// The most conditions that wait on a rank. The application gets one a step, so they pile up if every step has several,
/// as with a script that flags every snapshot.
inline constexpr std::size_t conditions_waiting_max = 64;

class Conditions {
public:
    /// True if the run abandoned the save of this condition. Empty while that is undecided.
    using HasLeft = std::function<std::optional<bool>(const node::Flagged&)>;

    /// Takes the new conditions from the page of this rank's node.
    void take(node::Control& page);
    /// Takes conditions that earlier sessions did not deliver.
    void take(std::vector<node::Flagged> kept);
    /// The urgency of the most urgent condition that may be delivered now, -1 without one. It is made for a maximum
    /// over all ranks: the low 32 bits are the rank.
    std::int64_t urgency(int rank, const HasLeft& has_left);
    /// The rank that has the most urgent condition.
    static int rank_of(std::int64_t urgency) { return static_cast<int>(urgency & 0xFFFFFFFF); }
    /// text() encodes that condition for the other ranks, given() decodes it. Then it counts as delivered and is not
    /// delivered again.
    std::string text() const;
    node::Flagged given(const std::string& text);

private:
    struct Given {
        std::uint64_t snapshot_id = 0;
        std::string text;
        std::int64_t urgency = 0;
    };
    std::vector<node::Flagged> waiting_;
    std::optional<std::size_t> most_urgent_;  // its index in waiting_
    std::vector<Given> given_;                // the newest
};

}  // namespace forebay

// Conditions of analyses on their way to the application: the first rank of each node takes those of its node, and
// Session::job() gives one at a time to all ranks, the most urgent first.
//
// Two nodes may find the same one, when each has seen the parts of all others; it is given once, and once more only if
// it asks for more then. A condition of a save that the application has left behind by going back is not given. Of more
// than conditions_waiting_max that wait on a node the least urgent are not given; the agent's log has them. What a
// session was not given any more the run keeps for the next one (catalog/flagged.hpp).

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "path/node/flagged.hpp"

namespace forebay {

/// Of one rank; those that are not the first of their node only hear.
/// One is given a step. More of them come where every step has some, as of a script that flags every snapshot.
inline constexpr std::size_t conditions_waiting_max = 64;

class Conditions {
public:
    /// Whether a save was left behind; nothing while that is open.
    using HasLeft = std::function<std::optional<bool>(const node::Flagged&)>;

    /// Takes what is new on the page of this rank's node.
    void take(node::Control& page);
    /// Takes what earlier sessions were not given any more.
    void take(std::vector<node::Flagged> kept);
    /// How urgent the most urgent one is that may be given now: for a maximum over all ranks; -1 without any.
    std::int64_t urgency(int rank, const HasLeft& has_left);
    /// The rank whose condition all are given.
    static int rank_of(std::int64_t urgency) { return static_cast<int>(urgency & 0xFFFFFFFF); }
    /// That one, as bytes for the others; and back. `given`: it is known from now on, and not given again.
    std::string text() const;
    node::Flagged given(const std::string& text);

private:
    struct Given {
        std::uint64_t snapshot_id = 0;
        std::string text;
        std::int64_t urgency = 0;
    };
    std::vector<node::Flagged> waiting_;
    std::optional<std::size_t> most_urgent_;  // of those
    std::vector<Given> given_;                // the newest ones
};

}  // namespace forebay

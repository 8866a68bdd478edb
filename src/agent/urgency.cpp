#include "agent/urgency.hpp"

#include <tuple>

namespace forebay::agent {

Urgency urgency_of(const node::Control& page, std::uint32_t index) {
    const auto& slot = page.slots[index];
    const auto& stream = page.streams[slot.stream];
    const auto sealed_unix_ns = slot.sealed_unix_ns.load();
    const auto deadline_ns = stream.deadline_ns.load();
    return {stream.priority.load(), deadline_ns == 0 ? never_due : sealed_unix_ns + deadline_ns, sealed_unix_ns,
            slot.step.load()};
}

bool goes_before(const Urgency& one, const Urgency& other) {
    if (one.priority != other.priority) return one.priority > other.priority;
    return std::tie(one.due_unix_ns, one.sealed_unix_ns, one.step) <
           std::tie(other.due_unix_ns, other.sealed_unix_ns, other.step);
}

bool overtakes(const Urgency& one, const Urgency& other) {
    if (one.priority != other.priority) return one.priority > other.priority;
    return one.due_unix_ns < other.due_unix_ns;
}

}  // namespace forebay::agent

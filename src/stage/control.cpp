#include "stage/control.hpp"

#include <fmt/format.h>

#include "sys/machine.hpp"

namespace forebay::stage {

const char* name_of(SlotState state) {
    switch (state) {
        case SlotState::empty: return "empty";
        case SlotState::filling: return "filling";
        case SlotState::sealed: return "sealed";
        case SlotState::draining: return "draining";
        case SlotState::drained: return "drained";
        case SlotState::committed: return "committed";
        case SlotState::failed: return "failed";
    }
    return "unknown";
}

void ring(std::atomic<std::uint32_t>& bell) {
    bell.fetch_add(1, std::memory_order_release);
    sys::wake_all(bell);
}

std::string slot_file_name(const Control& control, const SlotControl& slot) {
    return fmt::format("{}.{}.h5", control.streams[slot.stream].name.data(), slot.number);
}

}  // namespace forebay::stage

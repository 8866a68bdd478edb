#include "path/node/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/describe/schema.hpp"
#include "core/sys/clock.hpp"

namespace forebay::node {

namespace {

template <std::size_t Size>
bool ends(const std::array<char, Size>& text) {
    return std::ranges::find(text, '\0') != text.end();
}

bool leads_nowhere_else(const StreamControl& stream) {
    return ends(stream.name) && ends(stream.compression) && ends(stream.insitu) &&
           check(Schema{.stream = stream.name.data(), .tables = {}, .variables = {}});
}

bool leads_nowhere_else(const SlotControl& slot, std::uint32_t streams) {
    return slot.state.load(std::memory_order_acquire) <= SlotState::failed && slot.stream < streams &&
           slot.number <= 1 && slot.error_kind <= static_cast<std::uint32_t>(ErrorKind::broken) &&
           ends(slot.error_text);
}

}  // namespace

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

bool is_free(const SlotControl& slot) {
    const auto state = slot.state.load(std::memory_order_acquire);
    return (state == SlotState::empty || state == SlotState::committed) &&
           (slot.holds.load(std::memory_order_acquire) & ~lease_holds) == 0;
}

void take_leases(Control& control, SlotControl& slot) {
    const auto held = slot.holds.fetch_and(~lease_holds);
    auto& stream = control.streams[slot.stream];
    // If the slot was read, its results come soon, or the agent counts the save.
    if ((held & (lease_hold | lease_read)) == lease_hold) ++stream.counts.not_analysed;
    if ((held & script_lease_hold) != 0) ++stream.counts.scripts_missed;
}

Result<> check(const Control& control, const std::string& path) {
    if (control.magic.load(std::memory_order_acquire) != control_magic || control.version != control_version)
        return Error{
            ErrorKind::unsupported, fmt::format("{} is not a control page of version {}", path, control_version),
            "the staged files beside it", fmt::format("forebay drain {}", path.substr(0, path.find_last_of('/')))};
    const auto corrupt = [&](const std::string& what) {
        return Error{ErrorKind::corrupt, fmt::format("the control page {} is damaged: {}", path, what),
                     "the staged files beside it",
                     fmt::format("forebay drain {}", path.substr(0, path.find_last_of('/')))};
    };
    const auto streams = control.stream_count.load(std::memory_order_acquire);
    const auto slots = control.slot_count.load(std::memory_order_acquire);
    // The counts bound all loops below and in every reader.
    if (streams > streams_max || slots > slots_max)
        return corrupt(fmt::format("{} streams and {} slots: at most {} and {} are possible", streams, slots,
                                   streams_max, slots_max));
    if (!ends(control.lost_text)) return corrupt("the text about a lost run");
    if (control.flagged_put.load() - control.flagged_taken.load() > flagged_max)
        return corrupt("the size of the analyses' messages");
    for (const auto& flagged : control.flagged)
        if (flagged.stream >= streams_max || !ends(flagged.text)) return corrupt("the analyses' messages");
    for (std::uint32_t i = 0; i < streams; ++i)
        if (!leads_nowhere_else(control.streams[i])) return corrupt(fmt::format("the name of stream {}", i));
    for (std::uint32_t i = 0; i < slots; ++i)
        if (!leads_nowhere_else(control.slots[i], streams)) return corrupt(fmt::format("slot {}", i));
    return {};
}

void set_error(ErrorText& to, const Error& error) {
    to.fill('\0');
    std::size_t at = 0, room = to.size() - 3;  // room for a NUL at the end of each part
    for (const std::string_view part : {error.what, error.safe, error.next}) {
        const auto length = part.copy(to.data() + at, room);
        room -= length;
        at += length + 1;
    }
}

Error error_in(std::uint32_t kind, const ErrorText& text) {
    Error error{static_cast<ErrorKind>(kind)};
    std::string_view rest(text.data(), text.size());
    for (auto* part : {&error.what, &error.safe, &error.next}) {
        *part = rest.substr(0, rest.find('\0'));
        rest.remove_prefix(std::min(part->size() + 1, rest.size()));
    }
    return error;
}

void ring(std::atomic<std::uint32_t>& bell) {
    bell.fetch_add(1, std::memory_order_release);
    sys::wake_all(bell);
}

std::string slot_file_name(const Control& control, const SlotControl& slot) {
    return fmt::format("{}.{}.h5", control.streams[slot.stream].name.data(), slot.number);
}

}  // namespace forebay::node

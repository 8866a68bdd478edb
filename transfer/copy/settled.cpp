#include "transfer/copy/settled.hpp"

#include <algorithm>
#include <chrono>

#include "core/base/try.hpp"
#include "core/move/pace.hpp"
#include "core/sys/clock.hpp"

namespace forebay::tree {

namespace {

constexpr std::chrono::milliseconds some_ticks{30};
constexpr int settling_looks_max = 10;

// Zero if it was changed long ago, or by a clock ahead of this clock.
std::chrono::nanoseconds time_to_settle(sys::FileTime changed) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto since = std::chrono::seconds(changed.seconds) + std::chrono::nanoseconds(changed.nanoseconds);
    // File systems with whole seconds give equal times to all changes within a second.
    const std::chrono::nanoseconds alike = changed.nanoseconds == 0 ? std::chrono::seconds(1) : some_ticks * 0;
    const auto rest = since + alike + some_ticks - now;
    return now < since ? rest.zero() : std::max(rest, rest.zero());
}

}  // namespace

Result<std::optional<sys::EntryStatus>> settled_status(sys::OpenFile& file, sys::EntryStatus status) {
    for (int looks = 0; looks < settling_looks_max; ++looks) {
        const auto rest = time_to_settle(status.changed);
        if (rest == rest.zero()) return std::optional(status);
        move::sleep_until(sys::Clock::now() + rest, nullptr);
        FB_TRY_ASSIGN(looked, file.status());
        status = looked;
    }
    return std::optional<sys::EntryStatus>();
}

bool is_unchanged(const sys::EntryStatus& before, const sys::EntryStatus& after) {
    return before.changed == after.changed && before.modified == after.modified && before.bytes == after.bytes;
}

}  // namespace forebay::tree

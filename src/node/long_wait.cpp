#include "node/long_wait.hpp"

#include <fmt/format.h>

#include "base/bytes.hpp"

namespace forebay::node {

namespace {

// Between the turns of ranks that wait together: nobody notices the delay, nor the five messages a second.
constexpr std::chrono::milliseconds nap{200};

}  // namespace

void LongWait::tell(const std::string& what, sys::Clock::time_point now) {
    say_(fmt::format("still waiting after {} s, at most {} s {}, for {}",
                     std::chrono::duration_cast<std::chrono::seconds>(now - began_).count(),
                     std::chrono::duration<double>(at_most_).count(), limit_, what));
    next_ = now + wait_said_again_after;
}

bool wait_together(comm::Group& world, const Look& look, std::chrono::milliseconds at_most, const Say& say) {
    LongWait wait(say, at_most);
    const bool is_first = world.rank() == 0;
    for (;;) {
        const auto looked =
            attempt([&]() -> Result<std::optional<std::string>> { return look(std::min(nap, at_most)); });
        const auto found = looked ? *looked : std::optional<std::string>("");  // no memory, now
        // One clock says for all when the time is over.
        std::int64_t numbers[] = {found ? world.size() - world.rank() : 0, is_first && wait.is_due() ? 1 : 0,
                                  is_first && wait.is_over() ? 1 : 0};
        world.max(numbers);
        if (numbers[0] == 0) return true;
        if (numbers[2] != 0) return false;
        if (numbers[1] == 0) continue;
        const int speaker = world.size() - static_cast<int>(numbers[0]);  // the lowest rank that waits
        std::string what;
        const auto agreed = comm::agree(world, [&] {
            if (world.rank() == speaker) what = *found;
        });
        if (agreed && world.broadcast_sized(what, speaker) && is_first)
            static_cast<void>(attempt([&] { wait.tell(what); }));
    }
}

}  // namespace forebay::node

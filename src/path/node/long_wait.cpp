#include "path/node/long_wait.hpp"

#include <fmt/format.h>

#include "core/base/bytes.hpp"

namespace forebay::node {

namespace {

// The pause between turns. Nobody notices the delay, nor five messages a second.
constexpr std::chrono::milliseconds nap{200};

}  // namespace

Error interrupted(const std::string& what) {
    return {ErrorKind::retry, fmt::format("interrupted: {}", what), "", "call again if you did not mean to interrupt"};
}

bool LongWait::is_interrupted(sys::Clock::time_point now) {
    if (interrupted_ || !say_.interrupted || now < asks_at_) return interrupted_;
    asks_at_ = now + preemption_look;
    interrupted_ = say_.interrupted();
    return interrupted_;
}

void LongWait::tell(const std::string& what, sys::Clock::time_point now) {
    const auto bound = *limit_ == '\0'
                           ? std::string()
                           : fmt::format(", at most {} s {}", std::chrono::duration<double>(at_most_).count(), limit_);
    say_(fmt::format("still waiting after {} s{}, for {}",
                     std::chrono::duration_cast<std::chrono::seconds>(now - began_).count(), bound, what));
    next_ = now + wait_said_again_after;
}

Result<bool> wait_together(comm::Group& world, const Look& look, std::chrono::milliseconds at_most, const Say& say,
                           const Telling& telling, const char* limit) {
    LongWait wait(say, at_most, limit);
    const bool is_first = world.rank() == 0;
    // The text of rank `speaker` on all ranks; nothing in this turn if memory is short.
    const auto text_of = [&](int speaker, const auto& own) -> std::optional<std::string> {
        std::string text;
        const auto agreed = comm::agree(world, [&] {
            if (world.rank() == speaker) text = own();
        });
        if (!agreed || !world.broadcast_sized(text, speaker)) return std::nullopt;
        return text;
    };
    for (;;) {
        // An exception must not keep this rank from the maximum below: the other ranks would wait forever.
        const auto looked =
            attempt([&]() -> Result<std::optional<std::string>> { return look(std::min(nap, at_most)); });
        const auto problem = looked ? *looked : std::optional<std::string>("");  // short of memory: it still waits
        bool tells = false;
        if (telling.news) static_cast<void>(attempt([&] { tells = !telling.news().empty(); }));
        // Only rank 0's clock decides that the time is over, so all ranks end alike.
        // Ranks are sent counted from the end, so the maximum is the lowest rank.
        const auto from_the_end = world.size() - world.rank();
        std::int64_t maxima[] = {problem ? from_the_end : 0, is_first && wait.is_due() ? 1 : 0,
                                 is_first && wait.is_over() ? 1 : 0, tells ? from_the_end : 0,
                                 wait.is_interrupted() ? from_the_end : 0};
        world.max(maxima);
        const auto [waiting_from_end, is_due, is_over, news_from_end, interrupted_from_end] = maxima;
        const auto lowest = [&](std::int64_t number) { return world.size() - static_cast<int>(number); };
        if (waiting_from_end == 0) return true;
        if (interrupted_from_end != 0)
            return interrupted(fmt::format("a wait, on rank {}", lowest(interrupted_from_end)));
        if (is_over != 0) return false;
        if (news_from_end != 0) {
            const auto text = text_of(lowest(news_from_end), telling.news);
            if (text) static_cast<void>(attempt([&] { telling.hear(*text); }));
        }
        if (is_due == 0) continue;
        const auto what = text_of(lowest(waiting_from_end), [&] { return *problem; });
        if (what && is_first) static_cast<void>(attempt([&] { wait.tell(*what); }));
    }
}

}  // namespace forebay::node

#include "core/forward/strangers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"

namespace forebay::forward {

Strangers::Strangers(sys::Listener& listener, Complaints& complaints, const SipKey& key,
                     std::chrono::milliseconds greeting_max)
    : listener_(listener), complaints_(complaints), key_(key), greeting_max_(greeting_max) {
    // The kernel keeps a connection back until its first byte, so a silent stranger takes no place here.
    listener_.keep_silent_ones_back(greeting_max_);
}

Result<sys::Ready> Strangers::wait() {
    std::vector<const sys::Connection*> connections;
    connections.reserve(all_.size());
    for (const auto& stranger : all_) connections.push_back(&stranger.connection());
    auto timeout = complaints_.tell_due();
    if (!all_.empty()) {  // the oldest is late first
        const auto left = std::chrono::ceil<sys::Timeout>(all_.front().deadline() - sys::Clock::now());
        const auto until_late = std::max(left, sys::Timeout(0));
        timeout = timeout < sys::Timeout(0) ? until_late : std::min(timeout, until_late);
    }
    return sys::wait_for_any(listener_, connections, timeout);
}

Result<std::vector<Guest>> Strangers::turn() {
    std::vector<Guest> guests;
    FB_TRY_ASSIGN(ready, wait());
    for (const auto index : ready.connections) hear(all_[index], guests);
    const auto now = sys::Clock::now();
    for (auto& stranger : all_)
        if (!stranger.is_gone() && stranger.deadline() <= now)
            send_away(stranger,
                      fmt::format("it did not prove within {} ms that it has the token", greeting_max_.count()));
    const auto taken = ready.listener ? take(guests) : Result<>();
    std::erase_if(all_, [](const Stranger& stranger) { return stranger.is_gone(); });
    // A lasting error returns at the next turn.
    if (!taken && guests.empty()) return taken.error();
    return guests;
}

// Accepts at most `strangers_max` connections. Then the existing connections are read again.
Result<> Strangers::take(std::vector<Guest>& guests) {
    for (std::size_t count = 0; count < limits::strangers_max; ++count) {
        FB_TRY_ASSIGN(taken, listener_.accept(sys::Timeout(0)));
        if (!taken) return {};
        hear(all_.emplace_back(std::move(*taken), sys::Clock::now() + greeting_max_), guests);
        keep(limits::strangers_max, false);
        keep(limits::connections_max, true);
    }
    return {};
}

void Strangers::hear(Stranger& stranger, std::vector<Guest>& guests) {
    const auto shown = stranger.hear(key_);
    if (!shown) send_away(stranger, shown.error().what);
    else if (*shown) guests.push_back(stranger.guest());
}

void Strangers::send_away(Stranger& stranger, const std::string& why) {
    complaints_.tell(fmt::format("{} was not admitted: {}", stranger.connection().peer(), why));
    stranger.send_away();
}

// Counts the strangers whose first message was a client's (`known`), or the other strangers. If there are more than
// `all_max`, the oldest is sent away. Clients that have shown the token do not count.
void Strangers::keep(std::size_t all_max, bool known) {
    const auto is_alike = [&](const Stranger& stranger) { return !stranger.is_gone() && stranger.known() == known; };
    const auto alike = static_cast<std::size_t>(std::ranges::count_if(all_, is_alike));
    if (alike > all_max)
        send_away(*std::ranges::find_if(all_, is_alike), fmt::format("{} further clients came after it", all_max));
}

}  // namespace forebay::forward

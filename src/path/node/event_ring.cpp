#include "path/node/event_ring.hpp"

#include <algorithm>

namespace forebay::node {

namespace {

// The number is 0 while an entry is being written, so a reader never mixes two events.
bool read(const EventControl& entry, std::uint64_t number, PageEvent& event) {
    if (entry.number.load(std::memory_order_acquire) != number) return false;
    event = {.number = number,
             .unix_ns = entry.unix_ns.load(std::memory_order_relaxed),
             .what = entry.what.load(std::memory_order_relaxed),
             .stream = entry.stream.load(std::memory_order_relaxed),
             .step = entry.step.load(std::memory_order_relaxed),
             .bytes = entry.bytes.load(std::memory_order_relaxed),
             .seconds = entry.seconds.load(std::memory_order_relaxed)};
    std::atomic_thread_fence(std::memory_order_acquire);
    return entry.number.load(std::memory_order_relaxed) == number;
}

}  // namespace

void put_event(Control& page, const PageEvent& event) {
    const auto number = page.events_count.load(std::memory_order_relaxed) + 1;
    auto& entry = page.events[number % events_max];
    // The number goes to 0 before the other members change, and gets its value after them.
    entry.number.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    entry.unix_ns.store(event.unix_ns, std::memory_order_relaxed);
    entry.what.store(event.what, std::memory_order_relaxed);
    entry.stream.store(event.stream, std::memory_order_relaxed);
    entry.step.store(event.step, std::memory_order_relaxed);
    entry.bytes.store(event.bytes, std::memory_order_relaxed);
    entry.seconds.store(event.seconds, std::memory_order_relaxed);
    entry.number.store(number, std::memory_order_release);
    page.events_count.store(number, std::memory_order_release);
}

std::vector<PageEvent> events_after(const Control& page, std::uint64_t& seen) {
    const auto newest = page.events_count.load(std::memory_order_acquire);
    std::vector<PageEvent> events;
    for (auto number = std::max(seen, newest - std::min<std::uint64_t>(newest, events_max)) + 1; number <= newest;
         ++number) {
        PageEvent event;
        if (read(page.events[number % events_max], number, event)) events.push_back(event);
    }
    seen = std::max(seen, newest);
    return events;
}

}  // namespace forebay::node

#include "insight/report/request_heads.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/try.hpp"

namespace forebay::report {

namespace {

constexpr std::string_view end_of_head = "\r\n\r\n";

}  // namespace

Result<std::vector<RequestHead>> RequestHeads::turn(std::chrono::milliseconds timeout) {
    std::vector<const sys::Connection*> connections;
    connections.reserve(all_.size());
    for (const auto& waiting : all_) connections.push_back(&waiting.head.connection);
    FB_TRY_ASSIGN(ready, sys::wait_for_any(listener_, connections, timeout));
    for (const auto index : ready.connections) hear(all_[index]);
    const auto now = sys::Clock::now();
    for (auto& waiting : all_) waiting.is_done = waiting.is_done || waiting.deadline <= now;
    // After hear(): take() may erase entries, but `ready` holds indices.
    const auto taken = ready.listener ? take() : Result<>();
    std::erase_if(all_, [](const Waiting& waiting) { return waiting.is_done; });
    // Whole heads are returned before an error.
    if (!taken && whole_.empty()) return taken.error();
    return std::exchange(whole_, {});
}

// Accepts as many connections as fit at once. Most bring their request with them.
Result<> RequestHeads::take() {
    for (std::size_t count = 0; count < limits_.waiting_max; ++count) {
        FB_TRY_ASSIGN(connection, listener_.accept(sys::Timeout(0)));
        if (!connection) return {};
        // The oldest has had the most time, so it goes first.
        if (all_.size() >= limits_.waiting_max) all_.erase(all_.begin());
        hear(all_.emplace_back(
            Waiting{.head = {std::move(*connection), {}}, .deadline = sys::Clock::now() + limits_.to_end}));
    }
    return {};
}

void RequestHeads::hear(Waiting& waiting) {
    std::array<char, 4096> bytes;
    auto& text = waiting.head.text;
    while (!waiting.is_done) {
        const auto got = waiting.head.connection.receive_some(std::as_writable_bytes(std::span(bytes)));
        if (got && *got == 0) return;
        if (!got || text.size() + *got > limits_.bytes_max) {
            waiting.is_done = true;
            return;
        }
        // The end of the head may arrive in two parts.
        const auto from = text.size() - std::min(text.size(), end_of_head.size());
        text.append(bytes.data(), *got);
        if (text.find(end_of_head, from) == text.npos) continue;
        whole_.push_back(std::move(waiting.head));
        waiting.is_done = true;
    }
}

}  // namespace forebay::report

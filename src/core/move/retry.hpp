// Bounded repetition: calls that end with `retry` or `full` are repeated after a pause that doubles.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "core/base/attempt.hpp"
#include "core/move/pace.hpp"
#include "forebay/result.hpp"

namespace forebay::move {

struct RetryOptions {
    int retries = 5;                              // after the first attempt
    std::chrono::milliseconds pause{200};         // before the first repetition
    std::chrono::milliseconds pause_max{30'000};  // the doubling ends here
    /// Asked after `full`: the least pause until the target may have room again. May be empty.
    std::function<std::chrono::milliseconds()> room_comes_back = {};
};

/// The result of `call`, a function that returns a Result; an exception becomes its error. Other kinds of error are
/// returned at once. The text of the last error has the number of attempts, also if `stop` (may be null) became true.
template <class Call>
auto with_retries(const RetryOptions& options, const std::atomic<bool>* stop, Call&& call) -> decltype(call()) {
    std::chrono::milliseconds pause = options.pause;
    for (int attempt = 1;; ++attempt) {
        auto result = forebay::attempt(call);
        if (result.has_value()) return result;
        Error error = result.error();
        if (error.kind != ErrorKind::retry && error.kind != ErrorKind::full) return error;
        const bool last = attempt > options.retries;
        const bool waits_for_room = !last && error.kind == ErrorKind::full && options.room_comes_back;
        const auto now_pause = waits_for_room ? std::max(pause, options.room_comes_back()) : pause;
        if (last || !sleep_until(std::chrono::steady_clock::now() + now_pause, stop)) {
            error.what += " (attempt " + std::to_string(attempt) + " of " + std::to_string(options.retries + 1) +
                          (last ? ")" : ", then stopped on request)");
            return error;
        }
        pause = std::min(pause * 2, options.pause_max);
    }
}

}  // namespace forebay::move

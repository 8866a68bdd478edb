// Waiting for what another process or thread does.

#pragma once

#include <chrono>
#include <thread>

namespace forebay::test {

/// Asks until `condition` holds, a millisecond apart; false when it does not within `at_most`, which is a limit for
/// what hangs and long enough for a machine that is busy. It is asked once a turn, since some conditions are acts.
template <class Condition>
bool soon(Condition condition, std::chrono::milliseconds at_most = std::chrono::seconds(300)) {
    const auto deadline = std::chrono::steady_clock::now() + at_most;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

}  // namespace forebay::test

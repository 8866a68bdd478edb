// Waiting for another process or thread.

#pragma once

#include <chrono>
#include <thread>

namespace forebay::test {

/// Evaluates `condition` every millisecond until it is true. False after `at_most`, which only stops a hang: it is long
/// enough for a busy machine. One evaluation a turn, since some conditions have side effects.
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

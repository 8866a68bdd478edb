// Counts the work of a verb on threads of its own, once the verb has run for some seconds. From then on a progress bar
// can show the rest. The count uses an eighth of the verb's threads and reads the status of each entry: one call, where
// a copy makes ten.
//
// Life: made with the verb -> beat() while it runs -> the destructor stops an unfinished count
// Threads: beat() is called by one thread at a time.

#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "core/sys/clock.hpp"
#include "core/sys/thread.hpp"
#include "transfer/walk/amount.hpp"
#include "transfer/walk/walk.hpp"

namespace forebay::tree {

class TreeCount {
public:
    /// `what` has the chosen entries, the threads of the verb and the status to read for each entry. If the verb
    /// removes entries, `removed` counts them, and the total includes them.
    TreeCount(std::string place, WalkOptions what, const std::atomic<std::uint64_t>* removed = nullptr,
              std::chrono::milliseconds begins_after = usual_begin);
    TreeCount(const TreeCount&) = delete;
    TreeCount& operator=(const TreeCount&) = delete;
    ~TreeCount();

    /// Starts the count when it is due.
    void beat();
    /// Zero until all is counted.
    const Amount& all() const { return all_; }

private:
    // A progress bar is of no use for a shorter run.
    static constexpr std::chrono::milliseconds usual_begin{2000};

    void count();

    const std::string place_;
    WalkOptions what_;
    const std::atomic<std::uint64_t>* removed_;
    const sys::Clock::time_point begin_;
    bool has_begun_ = false;
    std::atomic<bool> stops_{false};
    Amount all_;
    sys::Thread thread_;
};

}  // namespace forebay::tree

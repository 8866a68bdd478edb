// Counts what a mover has before it, on threads of its own beside it, once the mover has lasted for some seconds: from
// then on it can be said what is left. It asks for the status of each entry, one call where a copy makes ten, by an
// eighth of the mover's threads.
//
// Life:    made with the mover -> beat() while it goes on -> the destructor stops a count that is not done
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
    /// `what` says which entries are meant, by how many threads they are moved, and what is asked of each. Where they
    /// are removed meanwhile, `removed` are among the count.
    TreeCount(std::string place, WalkOptions what, const std::atomic<std::uint64_t>* removed = nullptr,
              std::chrono::milliseconds begins_after = usual_begin);
    TreeCount(const TreeCount&) = delete;
    TreeCount& operator=(const TreeCount&) = delete;
    ~TreeCount();

    /// Begins when it is time.
    void beat();
    /// Nothing until all is counted.
    const Amount& all() const { return all_; }

private:
    // A bar says little of what is over so soon.
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

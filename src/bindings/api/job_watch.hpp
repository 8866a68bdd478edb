// Looks for requests of `forebay stop` in a run's directory, once a second, in a thread of its own: a look may hang in
// a dead mount, and the application must not. A request is a file; it is taken by removing it. The thread also removes
// the conditions that the application was given.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/format/flagged.hpp"
#include "core/sys/store.hpp"

namespace forebay {

class JobWatch {
public:
    /// Waits for the first look, at most a second. `retry` where no thread can be had.
    static Result<JobWatch> start(std::shared_ptr<sys::Store> target, const std::string& run);
    JobWatch(JobWatch&&) noexcept = default;
    JobWatch& operator=(JobWatch&&) = delete;
    JobWatch(const JobWatch&) = delete;
    JobWatch& operator=(const JobWatch&) = delete;
    ~JobWatch();

    struct Found {
        bool stop = false, save = false;
        std::string problem;  // a request that cannot be removed counts once, and is told
    };
    /// What was found since the last call.
    Found take();
    /// A condition that the application was given, or has left behind: the thread takes it away from the run. At the
    /// end it does so once more: another node may have kept the same one meanwhile.
    void drop(const format::Flagged& flagged);

private:
    struct State;
    JobWatch() = default;
    std::shared_ptr<State> state_;  // the thread's too: one that hangs outlives this object
};

}  // namespace forebay

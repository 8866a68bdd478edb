// Watches a run's directory for requests of `forebay stop`, once a second. It runs in its own thread, since a look may
// hang in a dead mount and the application must not. A request is a file, and removing the file takes the request. The
// thread also removes delivered conditions from the run.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/format/flagged.hpp"
#include "core/sys/store.hpp"

namespace forebay {

class JobWatch {
public:
    /// Waits for the first look, at most a second. `retry` if no thread can be started.
    static Result<JobWatch> start(std::shared_ptr<sys::Store> target, const std::string& run);
    JobWatch(JobWatch&&) noexcept = default;
    JobWatch& operator=(JobWatch&&) = delete;
    JobWatch(const JobWatch&) = delete;
    JobWatch& operator=(const JobWatch&) = delete;
    ~JobWatch();

    struct Found {
        bool stop = false, save = false;
        std::string problem;  // a request that cannot be removed counts once, and this text reports it
    };
    /// The requests since the last call.
    Found take();
    /// Removes a condition from the run that was delivered or abandoned. The thread does it now, and once more when it
    /// ends: another node may have stored the same condition in between.
    void drop(const format::Flagged& flagged);

private:
    struct State;
    JobWatch() = default;
    std::shared_ptr<State> state_;  // shared with the thread, which may hang and outlive this object
};

}  // namespace forebay

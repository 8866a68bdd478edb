// Reads a run again and again for the live page: it reads changed files in RUN/forebay/ and puts the state into the
// feed. It never writes. After a look of duration t it pauses for at least 20 t, so it reads less than 5 % of the time
// for any number of nodes.
//
// Threads: one thread calls run(); any thread may call stop() and the readers.

#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/sys/store.hpp"
#include "insight/report/page_feed.hpp"
#include "insight/report/page_state.hpp"

namespace forebay::report {

inline constexpr std::chrono::milliseconds look_pause{700};
inline constexpr int look_share = 20;  // the pause, as a multiple of the look's duration

class RunLooker {
public:
    /// `staging` is the staging directory of this host's sessions; it shows whether their agents live.
    RunLooker(sys::Store& store, std::string run, std::string staging, PageFeed& feed)
        : store_(store), where_{std::move(run), std::move(staging)}, feed_(feed) {}

    /// Looks once. Returns true if anything changed. The state reports a failed look, and the next look tries again.
    bool look(std::int64_t now_unix_ns);
    /// Looks until stop().
    void run();
    void stop();

    /// The figures of the newest look.
    struct Newest {
        telemetry::Summary summary;
        std::vector<format::StatusLine> statuses;
    };
    Newest newest() const;

private:
    using Sizes = std::map<std::string, std::uint64_t>;
    Result<bool> read(std::int64_t now_unix_ns);
    Result<bool> read_statuses(const std::vector<sys::Entry>& entries);
    Result<bool> read_kept();
    void sample(std::int64_t now_unix_ns);
    void publish(std::int64_t now_unix_ns);

    sys::Store& store_;
    struct Where {
        std::string run, staging;
    };
    const Where where_;
    PageFeed& feed_;
    std::optional<Sizes> sizes_;                   // of timings and events when last read; none: never read
    std::map<std::string, std::string> statuses_;  // by file: its contents
    std::map<std::string, std::string> listings_;  // by stream: the names in its directory
    std::vector<KeptSnapshot> kept_;
    std::vector<BacklogSample> backlog_;
    std::string problem_, state_;
    telemetry::Chronicle chronicle_;
    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable ending_;
    bool stopped_ = false;
    Newest newest_;
};

}  // namespace forebay::report

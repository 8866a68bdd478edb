// Looks at a run again and again, for the live page: reads what has changed in RUN/forebay/, and puts the state into
// the feed. It never writes, and takes a bounded share of the run's file system: after a look that took t it pauses for
// 20 t at least, so that it reads for less than 5 % of the time however many nodes tell of themselves.
//
// Threads: run() by one; stop() and the readers by any.

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
inline constexpr int look_share = 20;  // pauses for so many times what a look took

class RunLooker {
public:
    /// `staging` is where sessions of this host stage: whether its agents live is looked for there.
    RunLooker(sys::Store& store, std::string run, std::string staging, PageFeed& feed)
        : store_(store), where_{std::move(run), std::move(staging)}, feed_(feed) {}

    /// One look; whether anything has changed. A look that fails is told in the state, and the next one is tried.
    bool look(std::int64_t now_unix_ns);
    /// Looks until stop().
    void run();
    void stop();

    /// The numbers of the newest look.
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
    std::optional<Sizes> sizes_;                   // of timings and events, when they were read; none: never
    std::map<std::string, std::string> statuses_;  // by file, as it was read
    std::map<std::string, std::string> listings_;  // by stream: the names in its directory
    std::vector<KeptSnapshot> kept_;
    std::vector<BacklogSample> backlog_;
    std::string problem_, state_;
    telemetry::Chronicle chronicle_;
    mutable std::mutex mutex_;  // of what follows
    std::condition_variable ending_;
    bool stopped_ = false;
    Newest newest_;
};

}  // namespace forebay::report

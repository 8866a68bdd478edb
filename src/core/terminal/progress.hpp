// A progress bar on standard error. On a terminal it vanishes with its object, so that later output starts on a clean
// line. In the log of a job it is one line a minute, the first after a minute.

#pragma once

#include <cstdint>
#include <string>

#include "core/sys/clock.hpp"

namespace forebay::cli {

/// The progress of the transfer tool on a tree.
struct TreeFlow {
    std::uint64_t entries = 0, bytes = 0;  // finished, and the bytes moved for them
    std::uint64_t passed_bytes = 0;        // of finished files, moved or not
    /// The totals; both 0 until they are counted.
    std::uint64_t all_entries = 0, all_bytes = 0;
};

class Progress {
public:
    /// `quiet` shows nothing, unless FOREBAY_PROGRESS is set in the environment.
    Progress(const std::string& label, bool quiet);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    /// Cheap: draws at most ten times a second on a terminal, once a minute in a log.
    void show(std::uint64_t bytes_done, std::uint64_t bytes_all);
    /// The same for work without bytes: "plan: 3 of 8".
    void show_count(std::uint64_t done, std::uint64_t all);

    /// The same for a tree.
    void show_flow(const TreeFlow& flow);
    /// True if anything is shown.
    bool shows() const { return on_; }

    /// The line that show() draws.
    static std::string line(const std::string& label, std::uint64_t bytes_done, std::uint64_t bytes_all,
                            double seconds);
    /// The line of show_flow(): "copy: 12000 entries, 1.2 GB, 310 MB/s", and when all is counted ", 37 % of 30000
    /// entries and 3.4 GB, about 2.1 min left".
    static std::string flow_line(const std::string& label, const TreeFlow& flow, double seconds);

private:
    bool is_due();
    void draw(const std::string& text);

    std::string label_;
    bool on_, on_terminal_;
    bool drawn_ = false;
    sys::Clock::time_point start_ = sys::Clock::now();
    sys::Clock::time_point last_ = start_;
};

}  // namespace forebay::cli

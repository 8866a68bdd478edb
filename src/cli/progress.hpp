// A bar on standard error while something long goes on. On a terminal it vanishes with its object, so that what is
// printed afterwards starts on a clean line. In the log of a job it is a line a minute, and the first after a minute.

#pragma once

#include <cstdint>
#include <string>

#include "sys/clock.hpp"

namespace forebay::cli {

class Progress {
public:
    /// `quiet` shows nothing, unless whoever started this program has set FOREBAY_PROGRESS.
    Progress(const std::string& label, bool quiet);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    /// Cheap: draws at most ten times a second on a terminal, once a minute in a log.
    void show(std::uint64_t bytes_done, std::uint64_t bytes_all);
    /// The same of what has no bytes: "plan: 3 of 8".
    void show_count(std::uint64_t done, std::uint64_t all);

    /// The same where nobody knows how much there is: "copy: 12000 entries, 1.2 GB, 310 MB/s".
    void show_flow(std::uint64_t entries, std::uint64_t bytes);

    /// The line that show() draws.
    static std::string line(const std::string& label, std::uint64_t bytes_done, std::uint64_t bytes_all,
                            double seconds);

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

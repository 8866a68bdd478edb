// A bar on standard error while something long goes on, for people only: nothing is printed unless standard error is
// a terminal. The bar vanishes with its object, so that what is printed afterwards starts on a clean line.

#pragma once

#include <cstdint>
#include <string>

#include "sys/clock.hpp"

namespace forebay::cli {

class Progress {
public:
    /// `quiet` shows nothing even on a terminal.
    Progress(const std::string& label, bool quiet);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    /// Cheap: draws at most ten times a second.
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
    bool on_;
    bool drawn_ = false;
    sys::Clock::time_point start_ = sys::Clock::now();
    sys::Clock::time_point last_{};
};

}  // namespace forebay::cli

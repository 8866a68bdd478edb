// Which storage targets have kept a job waiting, by what Darshan has counted of its files. A rule that names nothing
// in a healthy log: darshan_rule_test.cpp measures it over made ones.
//
// Two looks at the same writes. Completion: a target's bytes by the time from the first write of its files to the end
// of the last one, never to their close, which waits for others. And each file's rate for itself: whether those with
// a part on the target are slower than the others.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "insight/report/darshan_log.hpp"

namespace forebay::report {

struct DarshanTarget {
    std::string mount;
    std::uint32_t number = 0;  // the index of the OST
    std::uint64_t files = 0;
    double bytes = 0;        // its share of its files', by stripes
    double seconds = 0;      // in which at least one of them was between its first and its last write
    double rate = 0;         // bytes / seconds
    double ratio = 0;        // of that to the median of the targets of its mount
    double file_ratio = 0;   // of the median rate of its files to that of all
    double z = 0;            // of the rate, by the median absolute deviation
    double correlation = 0;  // Pearson: the rate of a file, and the part of it that lies here
    bool is_slow = false;
};

/// Of one file system.
struct DarshanMount {
    std::string mount;
    std::vector<DarshanTarget> targets;        // slowest first
    std::uint64_t files = 0, small_files = 0;  // that were judged by; that were too small for it
    double bytes = 0, seconds = 0;             // of the files judged by, as those of a target
    double median_rate = 0;                    // of a target
    double seconds_without = 0;                // had the slow targets' bytes gone to the others; 0: none is slow
    bool is_told_apart = true;                 // false: every file lies on every target
    std::vector<std::uint32_t> kept;           // targets without the slow ones, rising
};

/// By mount; none where no file on Lustre was written.
std::vector<DarshanMount> judge_darshan(const DarshanLog& log);

/// "0-13,15-23", as `lfs setstripe -o` takes them.
std::string ranges_of(const std::vector<std::uint32_t>& numbers);

}  // namespace forebay::report

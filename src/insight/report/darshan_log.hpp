// What a Darshan log says of the files that a job has written, decoded from lines: those of our script over PyDarshan
// (darshan_lines.py has their grammar), or those that darshan-parser prints.
//
// Life: DarshanLines -> add_json() or add_parsed() of each line -> log().
// Lines are input of others: names in them may hold anything, numbers may be absurd.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::report {

/// A file on Lustre.
struct DarshanFile {
    std::string mount;                    // "": unknown
    std::vector<std::uint32_t> targets;   // an index of an OST a stripe
    std::uint64_t read = 0, written = 0;  // bytes, of all ranks
    double first = 0, last = 0;  // seconds from the begin of the job to its first write, and its last one's end
    double seconds = 0;          // of its slowest rank, in reads, writes and calls about the file
};

struct DarshanLog {
    std::string reader;
    std::uint64_t processes = 0;
    double seconds = 0;       // of the job
    bool is_partial = false;  // Darshan had no room for all files
    std::vector<DarshanFile> files;
    std::uint64_t elsewhere = 0;                       // written files of which no targets are known
    std::uint64_t only_read = 0, only_read_bytes = 0;  // files on Lustre of which nothing was written
};

/// Of one log; more are no log of a job.
inline constexpr std::size_t darshan_files_max = 2'000'000, darshan_stripes_max = 16'000'000;

class DarshanLines {
public:
    /// A line of our script. What it says went wrong is the error; `corrupt` for a line of ours that is not as it
    /// must be.
    Result<> add_json(std::string_view line);
    /// A line of darshan-parser; what is no counter of ours is passed over.
    Result<> add_parsed(std::string_view line);
    /// Whether the script has begun to read the log.
    bool has_begun() const { return has_begun_; }
    /// Whether the last line of all has come: of the script.
    bool has_ended() const { return has_ended_; }
    /// Whether the library behind the reader has failed, of which complaint() says more.
    bool has_failed() const { return has_failed_; }
    /// The newest line of neither grammar.
    const std::string& complaint() const { return complaint_; }
    DarshanLog log() const;

private:
    struct Access {
        double read = 0, written = 0, first = 0, last = 0, seconds = 0, slowest = 0;
    };
    struct Layout {
        std::string mount;
        std::vector<std::uint32_t> targets;
    };
    /// Which calls: what the C library writes for fwrite() is no call of POSIX to Darshan.
    enum class Calls : std::uint8_t { posix, stdio };
    using Key = std::tuple<std::uint64_t, std::int64_t, Calls>;  // file and rank

    Result<> add_targets(std::uint64_t file, std::string_view mount, std::size_t from,
                         const std::vector<std::int64_t>& targets);
    void complain(std::string_view line);
    Result<> check_room() const;

    DarshanLog head_;
    std::map<std::uint64_t, Layout> layouts_;
    std::map<Key, Access> accesses_;
    std::size_t stripes_ = 0;
    std::uint64_t lines_ = 0;
    bool has_begun_ = false, has_ended_ = false, has_failed_ = false;
    std::string complaint_;
};

}  // namespace forebay::report

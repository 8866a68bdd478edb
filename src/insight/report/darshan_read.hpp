// Reads a Darshan log by a program of others: darshan-parser of darshan-util where it is in PATH, else PyDarshan.
// Neither is needed but for this.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/sys/store.hpp"
#include "insight/report/darshan_log.hpp"

namespace forebay::report {

struct DarshanReader {
    std::string python;  // an interpreter that may have PyDarshan
    std::vector<std::pair<std::string, std::string>> environment;
};

/// `missing` where there is no such file, `unsupported` where nobody here can read logs, `corrupt` with the reader's
/// words for what is no log, or is damaged.
Result<DarshanLog> read_darshan(sys::Store& store, const std::string& path, const DarshanReader& reader);

}  // namespace forebay::report

// Storage targets by the server that they hang on, which Darshan does not know: a server that is slow makes all of its
// targets slow.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "insight/report/darshan_rule.hpp"

namespace forebay::report {

/// The address of the server by the index of the OST, from what `lctl get_param osc.*.ost_conn_uuid` or `lctl dl -t`
/// has printed: of each line the first OSTxxxx and the last word with an @. Other lines are passed over.
std::map<std::uint32_t, std::string> servers_in(std::string_view text);

struct DarshanServer {
    std::string name;  // "": of targets whose server is not known
    std::uint64_t targets = 0, slow_targets = 0, files = 0;
    double bytes = 0, seconds = 0;  // seconds: of its slowest target
    double ratio = 0;               // the median of its targets' ratios
    bool is_slow = false;           // at least half of its targets are, and two of them
};

/// Slow ones first, then by ratio.
std::vector<DarshanServer> by_server(const DarshanMount& mount, const std::map<std::uint32_t, std::string>& servers);

}  // namespace forebay::report

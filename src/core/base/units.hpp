// Numbers for people: "1.25 GB", "76 ms", "13.3 GB/s". Decimal units, as storage is sold.

#pragma once

#include <cstdint>
#include <string>

namespace forebay {

std::string show_bytes(std::uint64_t bytes);
/// In the form of options, with powers of 1024 if the amount is a whole number of them: "64M", "266000000".
std::string option_bytes(std::uint64_t bytes);
std::string show_seconds(double seconds);
std::string show_rate(double bytes_per_second);
/// "1 node", "3 nodes", "2 entries".
std::string show_count(std::uint64_t count, const char* noun);
/// "2023-11-14 22:13:20 UTC"; "unknown" for 0 and less.
std::string show_utc(std::int64_t unix_ns);

}  // namespace forebay

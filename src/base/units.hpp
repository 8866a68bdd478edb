// Numbers as people read them: "1.25 GB", "76 ms", "13.3 GB/s". Decimal units, as storage is sold.

#pragma once

#include <cstdint>
#include <string>

namespace forebay {

std::string show_bytes(std::uint64_t bytes);
std::string show_seconds(double seconds);
std::string show_rate(double bytes_per_second);

}  // namespace forebay

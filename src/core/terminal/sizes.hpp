// Amounts of memory, and times, as people write them on the command line.

#pragma once

#include <cstdint>
#include <string>

#include "forebay/result.hpp"

namespace forebay::cli {

/// "4096", "64K", "64m", "1.5G": K, M, G and T, large or small, are powers of 1024, as stripes and pages are and as IOR
/// takes them; Ki and KiB to TiB too. KB to TB are powers of 1000, as show_bytes() prints. `refused` for anything else,
/// naming `option`.
Result<std::uint64_t> bytes_from(const std::string& option, const std::string& text);

/// "90", "1.5", "90s", "30m", "12h", "2d". `refused` for anything else, below 0 too, naming `option`.
Result<double> seconds_from(const std::string& option, const std::string& text);

/// "8100", "0.01". As above.
Result<double> number_from(const std::string& option, const std::string& text);

}  // namespace forebay::cli

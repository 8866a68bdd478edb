// Amounts of memory, and times, in the forms of the command line.

#pragma once

#include <cstdint>
#include <string>

#include "forebay/result.hpp"

namespace forebay::cli {

/// "4096", "64K", "64m", "1.5G". K, M, G and T, large or small, are powers of 1024, as for stripes and pages and in
/// IOR; so are Ki and KiB to TiB. KB to TB are powers of 1000, as in show_bytes(). `refused` for other texts; the error
/// contains `option`.
Result<std::uint64_t> bytes_from(const std::string& option, const std::string& text);

/// "90", "1.5", "90s", "30m", "12h", "2d". `refused` for other texts and below 0; the error contains `option`.
Result<double> seconds_from(const std::string& option, const std::string& text);

/// "8100", "0.01". Errors as above.
Result<double> number_from(const std::string& option, const std::string& text);

}  // namespace forebay::cli

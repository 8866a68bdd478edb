// Any bytes as a line of a list of checksums: an error, or a sum that is written as the same line.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "transfer/compare/checksums.hpp"

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view line(reinterpret_cast<const char*>(data), size);
    const auto sum = tree::file_sum_from(line);
    if (!sum) return 0;
    const auto again = tree::file_sum_from(tree::line_of(*sum));
    if (!again || again->path != sum->path || again->bytes != sum->bytes || again->crc32c != sum->crc32c) std::abort();
    return 0;
}

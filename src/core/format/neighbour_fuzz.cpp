// Feeds any text to decode_neighbour(). It must not crash. Accepted text must be written and read to the same text.

#include "core/format/neighbour.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto read = forebay::format::decode_neighbour({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (!read) return 0;
    const auto again = forebay::format::encode(*read);
    if (!again) std::abort();
    const auto twice = forebay::format::decode_neighbour(*again, "fuzz");
    if (!twice || *forebay::format::encode(*twice) != *again) std::abort();
    return 0;
}

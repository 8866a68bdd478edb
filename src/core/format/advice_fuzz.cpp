#include "core/format/advice.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto read = forebay::format::decode_advice({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (!read) return 0;
    const auto again = forebay::format::encode(*read);
    const auto twice = forebay::format::decode_advice(again, "fuzz");
    if (!twice || forebay::format::encode(*twice) != again) std::abort();
    return 0;
}

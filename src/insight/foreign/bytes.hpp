// Reads numbers of either byte order.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace forebay::foreign {

template <class T>
T load(const std::byte* from, bool big_endian) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from, sizeof(T));
    if (big_endian) std::ranges::reverse(bytes);
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

}  // namespace forebay::foreign

// A range of bytes in a file.

#pragma once

#include <cstdint>

namespace forebay::foreign {

struct Range {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t end() const { return offset + bytes; }
    friend bool operator==(const Range&, const Range&) = default;
};

}  // namespace forebay::foreign

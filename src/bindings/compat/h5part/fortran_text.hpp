// Arguments of Fortran 77: texts without NUL, padded with blanks, whose lengths follow the other arguments; and handles
// as INTEGER*8.

#pragma once

#include <forebay/h5part/H5Part.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace forebay::h5part {

inline std::string text_of(const char* text, std::size_t length) {
    while (length > 0 && text[length - 1] == ' ') --length;
    return {text, length};
}

inline void pad(const std::string& text, char* to, std::size_t length) {
    const auto taken = std::min(text.size(), length);
    std::memcpy(to, text.data(), taken);
    std::memset(to + taken, ' ', length - taken);
}

inline H5PartFile* file_of(const h5part_int64_t* handle) {
    // The inverse of handle_of(). NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<H5PartFile*>(static_cast<std::intptr_t>(*handle));
}

inline h5part_int64_t handle_of(H5PartFile* file) {
    return static_cast<h5part_int64_t>(reinterpret_cast<std::intptr_t>(file));
}

}  // namespace forebay::h5part

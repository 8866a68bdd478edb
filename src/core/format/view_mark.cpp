#include "core/format/view_mark.hpp"

#include <fmt/format.h>

namespace forebay::format {

// The size shows that the mark still ends the file for which it was written.
std::string view_mark(std::uint64_t hdf5_bytes) { return fmt::format("forebay view 1\nbytes {:016x}\n", hdf5_bytes); }

bool is_view_mark(std::string_view end, std::uint64_t file_bytes) {
    return file_bytes >= view_mark_bytes && end == view_mark(file_bytes - view_mark_bytes);
}

}  // namespace forebay::format

// A file that retention accepts as a view of ours, whatever its bytes.

#pragma once

#include <string>

#include "core/format/view_mark.hpp"

namespace forebay::test {

inline std::string marked_view(const std::string& bytes = "a view") { return bytes + format::view_mark(bytes.size()); }

}  // namespace forebay::test

#include "core/format/lineage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace forebay::format {

std::string name_of(const Line& line) {
    return line.turn == 0 ? fmt::format("{}", line.session) : fmt::format("{}.{}", line.session, line.turn);
}

bool is_ascending(std::span<const LineStart> starts) {
    return starts.size() <= line_starts_max &&
           std::ranges::all_of(starts,
                               [](const LineStart& start) { return start.line.session > 0 && start.from >= -1; }) &&
           std::ranges::adjacent_find(starts, std::ranges::greater_equal{}, &LineStart::line) == starts.end();
}

bool is_later(const Save& a, const Save& b) {
    const bool clocks = a.line.session == 0 && b.line.session == 0;
    const auto order = [clocks](const Save& save) {
        // The id comes last, so that all readers order equal saves alike.
        return std::tuple(save.line, save.number, clocks ? save.sealed_unix_ns : 0, save.snapshot_id);
    };
    return order(a) > order(b);
}

}  // namespace forebay::format

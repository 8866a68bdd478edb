#include "path/telemetry/words.hpp"

#include <fmt/format.h>

#include "core/base/units.hpp"

namespace forebay::telemetry {

namespace {

std::string range_of(std::uint32_t least, std::uint32_t most, const char* noun) {
    if (least == most || least == 0) return show_count(most, noun);
    return fmt::format("{} to {}", least, show_count(most, noun));
}

std::string sum_text(const Spread& part) { return part.sum > 0 ? show_span(part.sum) : "0 s"; }

}  // namespace

std::string period_text(const Summary& summary) {
    const auto& sessions = summary.sessions;
    if (sessions.empty()) return "no session";
    if (sessions.size() == 1) return fmt::format("session {}", sessions.front());
    return fmt::format("sessions {} to {}", sessions.front(), sessions.back());
}

std::string nodes_text(const Summary& summary) { return range_of(summary.nodes_least, summary.nodes, "node"); }
std::string ranks_text(const Summary& summary) { return range_of(summary.ranks_least, summary.ranks, "rank"); }

std::string parts_text(const Summary& summary) {
    const auto& parts = summary.parts;
    return fmt::format("copy {}, layout {}, waiting for ranks {}, waiting for a slot {}", sum_text(parts.copy),
                       sum_text(parts.layout), sum_text(parts.ranks), sum_text(parts.slot));
}

std::string short_parts_text(const Summary& summary) {
    const auto& parts = summary.parts;
    return fmt::format("copy {}, layout {}, ranks {}, slot {}", sum_text(parts.copy), sum_text(parts.layout),
                       sum_text(parts.ranks), sum_text(parts.slot));
}

std::string show_span(double seconds) {
    if (seconds < 120) return show_seconds(seconds);
    if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
    if (seconds < 48 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
    return fmt::format("{:.1f} days", seconds / 86400);
}

}  // namespace forebay::telemetry

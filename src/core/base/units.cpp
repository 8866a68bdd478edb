#include "core/base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>

namespace forebay {

namespace {

std::string scaled(double value, const char* unit) {
    static constexpr std::array<const char*, 6> prefixes{"", "k", "M", "G", "T", "P"};
    std::size_t prefix = 0;
    while (value >= 999.5 && prefix + 1 < prefixes.size()) {
        value /= 1000;
        ++prefix;
    }
    if (prefix == 0) return fmt::format("{:.0f} {}", value, unit);
    return fmt::format("{:.{}f} {}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, prefixes[prefix], unit);
}

}  // namespace

std::string show_bytes(std::uint64_t bytes) { return scaled(static_cast<double>(bytes), "B"); }

std::string option_bytes(std::uint64_t bytes) {
    constexpr std::string_view powers = "KMGT";
    for (std::size_t power = powers.size(); power > 0 && bytes > 0; --power)
        if (const auto unit = std::uint64_t{1} << (10 * power); bytes % unit == 0)
            return fmt::format("{}{}", bytes / unit, powers[power - 1]);
    return fmt::to_string(bytes);
}

std::string show_seconds(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.{}f} ms", seconds * 1e3, seconds < 0.1 ? 1 : 0);
    if (seconds < 600) return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 2 : 1);
    return fmt::format("{:.0f} min", seconds / 60);
}

std::string show_rate(double bytes_per_second) { return scaled(bytes_per_second, "B") + "/s"; }

std::string show_count(std::uint64_t count, const char* noun) {
    const std::string_view singular(noun);
    if (count == 1) return fmt::format("1 {}", singular);
    return singular.ends_with("ry") ? fmt::format("{} {}ies", count, singular.substr(0, singular.size() - 1))
                                    : fmt::format("{} {}s", count, singular);
}

std::string show_utc(std::int64_t unix_ns) {
    if (unix_ns <= 0) return "unknown";
    using namespace std::chrono;
    const auto time = sys_time<nanoseconds>(nanoseconds(unix_ns));
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(floor<seconds>(time - day));
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count());
}

}  // namespace forebay

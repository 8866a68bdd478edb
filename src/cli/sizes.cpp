#include "cli/sizes.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

namespace forebay::cli {

Result<std::uint64_t> bytes_from(const std::string& option, const std::string& text) {
    const auto refused =
        Error{ErrorKind::refused, fmt::format("{} {}: an amount like 4096, 64K, 64M or 2G is needed", option, text), "",
              fmt::format("{} 64M", option)};
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return refused;
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    int shift = 0;
    if (!unit.empty()) {
        const auto power = std::string_view("KMGT").find(unit.front());
        if (power == std::string_view::npos) return refused;
        shift = 10 * static_cast<int>(power + 1);
        unit.remove_prefix(1);
        if (!unit.empty() && unit != "B" && unit != "iB") return refused;
    }
    if (number > (UINT64_MAX >> shift) >> 1) return refused;
    return number << shift;
}

Result<double> number_from(const std::string& option, const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number) || number < 0)
        return Error{ErrorKind::refused, fmt::format("{} {}: a number is needed", option, text)};
    return number;
}

Result<double> seconds_from(const std::string& option, const std::string& text) {
    constexpr std::string_view units = "smhd";
    constexpr double seconds[] = {1, 60, 3600, 86400};
    const auto unit = text.empty() ? std::string_view::npos : units.find(text.back());
    const auto number = number_from(option, unit == std::string_view::npos ? text : text.substr(0, text.size() - 1));
    if (!number)
        return Error{ErrorKind::refused,
                     fmt::format("{} {}: a time like 90, 90s, 30m, 12h or 2d is needed", option, text), "",
                     fmt::format("{} 30m", option)};
    return *number * (unit == std::string_view::npos ? 1 : seconds[unit]);
}

}  // namespace forebay::cli

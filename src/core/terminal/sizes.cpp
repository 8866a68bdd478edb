#include "core/terminal/sizes.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

namespace forebay::cli {

namespace {

constexpr std::string_view amount_units = "KMGT";
// Doubles hold it exactly, and sums of several fit into 64 bits.
constexpr double amount_bytes_max = 0x1p60;

}  // namespace

Result<std::uint64_t> bytes_from(const std::string& option, const std::string& text) {
    const auto refused =
        Error{ErrorKind::refused, fmt::format("{} {}: give an amount like 4096, 64K, 64M or 2G", option, text), "",
              fmt::format("{} 64M", option)};
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // Written with `!` so that NaN, which from_chars accepts, is refused too.
    if (error != std::errc{} || !(number >= 0)) return refused;
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (!unit.empty()) {
        const auto power = amount_units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front()))));
        const auto rest = unit.substr(1);
        if (power == std::string_view::npos || (!rest.empty() && rest != "B" && rest != "i" && rest != "iB"))
            return refused;
        number *= std::pow(rest == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
    }
    if (!(number <= amount_bytes_max)) return refused;
    return static_cast<std::uint64_t>(std::llround(number));
}

Result<double> number_from(const std::string& option, const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number) || number < 0)
        return Error{ErrorKind::refused, fmt::format("{} {}: give a number", option, text)};
    return number;
}

Result<double> seconds_from(const std::string& option, const std::string& text) {
    constexpr std::string_view marks = "smhd";
    constexpr double seconds[] = {1, 60, 3600, 86400};
    const auto unit = text.empty() ? std::string_view::npos : marks.find(text.back());
    const auto number = number_from(option, unit == std::string_view::npos ? text : text.substr(0, text.size() - 1));
    if (!number)
        return Error{ErrorKind::refused, fmt::format("{} {}: give a time like 90, 90s, 30m, 12h or 2d", option, text),
                     "", "give a number with s, m, h or d after it, or only a number for seconds"};
    return *number * (unit == std::string_view::npos ? 1 : seconds[unit]);
}

}  // namespace forebay::cli

#include "cli/sizes.hpp"

#include <fmt/format.h>

#include <charconv>

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

}  // namespace forebay::cli

#include "core/format/run_identity.hpp"

#include <fmt/format.h>

#include <charconv>

namespace forebay::format {

namespace {

constexpr std::string_view identity_begin = "run-", identity_end = ".json";
constexpr std::size_t identity_digits = 16;

}  // namespace

std::string name_of_identity(std::uint64_t id) { return fmt::format("{}{:016x}{}", identity_begin, id, identity_end); }

std::optional<std::uint64_t> identity_in(std::string_view name) {
    if (name.size() != identity_begin.size() + identity_digits + identity_end.size()) return {};
    std::uint64_t id = 0;
    const auto* first = name.data() + identity_begin.size();
    const auto [end, error] = std::from_chars(first, first + identity_digits, id, 16);
    if (error != std::errc{} || end != first + identity_digits || id == 0 || name_of_identity(id) != name) return {};
    return id;
}

}  // namespace forebay::format

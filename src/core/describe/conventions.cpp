#include "core/describe/conventions.hpp"

#include <algorithm>

namespace forebay::describe {

namespace {

consteval bool is_by_value() {
    for (std::size_t i = 0; i < known_conventions.size(); ++i)
        if (static_cast<std::size_t>(known_conventions[i].convention) != i) return false;
    return known_conventions.size() <= conventions_max;
}
static_assert(is_by_value());

}  // namespace

const KnownConvention& known(Convention convention) { return known_conventions[static_cast<std::size_t>(convention)]; }

std::optional<Convention> convention_numbered(std::uint64_t number) {
    if (number >= known_conventions.size()) return std::nullopt;
    return known_conventions[number].convention;
}

std::optional<Convention> convention_named(std::string_view name) {
    const auto convention = std::ranges::find(known_conventions, name, &KnownConvention::name);
    if (convention == known_conventions.end()) return std::nullopt;
    return convention->convention;
}

std::string convention_names(std::span<const KnownConvention> of) {
    std::string names;
    for (const auto& convention : of) {
        const bool is_last = &convention == &of.back();
        names += std::string(names.empty() ? "" : is_last ? " or " : ", ") + convention.name;
    }
    return names;
}

}  // namespace forebay::describe

#include "insight/outline/conventions.hpp"

#include <fmt/format.h>

#include <array>

#include "core/base/try.hpp"
#include "core/describe/conventions.hpp"
#include "insight/outline/h5part_outline.hpp"
#include "insight/outline/named_outline.hpp"
#include "insight/outline/openpmd_outline.hpp"

namespace forebay::outline {

namespace {

using MakeOutline = Result<Outline> (*)(std::span<const Contents>, const Wish&);

// In the order of Convention, as describe::known_conventions.
constexpr std::array<MakeOutline, describe::known_conventions.size()> outlines{
    [](std::span<const Contents> contents, const Wish&) { return plain_outline(contents); },
    h5part_outline,
    openpmd_outline,
    [](std::span<const Contents> contents, const Wish&) { return netcdf_outline(contents); },
};
static_assert(outlines.back() != nullptr, "each convention has its outline");

}  // namespace

Result<Convention> convention_named(const std::string& name) {
    if (const auto convention = describe::convention_named(name)) return *convention;
    return Error{ErrorKind::refused, fmt::format("there is no convention \"{}\"", name), "",
                 describe::convention_names()};
}

Result<Outline> outline_of(std::span<const Contents> contents, const Wish& wish) {
    FB_TRY_ASSIGN(outline, outlines[static_cast<std::size_t>(wish.convention)](contents, wish));
    std::vector<std::string> missing;
    for (const auto& content : contents) missing.insert(missing.end(), content.missing.begin(), content.missing.end());
    if (!missing.empty()) {
        // In every convention the first group is the root.
        set(outline.groups.front().attributes, {"forebay_missing_files", missing});
    }
    return outline;
}

}  // namespace forebay::outline

#include "outline/conventions.hpp"

#include <fmt/format.h>

#include "outline/h5part_outline.hpp"
#include "outline/named_outline.hpp"
#include "outline/openpmd_outline.hpp"

namespace forebay::outline {

Result<Convention> convention_named(const std::string& name) {
    for (const auto one : catalog::all_conventions)
        if (name == catalog::name_of(one)) return one;
    return Error{ErrorKind::refused, fmt::format("there is no convention \"{}\"", name), "",
                 "plain, h5part, openpmd or netcdf"};
}

Result<Outline> outline_of(std::span<const Contents> contents, const Wish& wish) {
    FB_TRY_ASSIGN(outline, wish.convention == Convention::h5part    ? h5part_outline(contents, wish)
                           : wish.convention == Convention::openpmd ? openpmd_outline(contents, wish)
                           : wish.convention == Convention::netcdf  ? netcdf_outline(contents)
                                                                    : plain_outline(contents));
    std::vector<std::string> missing;
    for (const auto& one : contents) missing.insert(missing.end(), one.missing.begin(), one.missing.end());
    if (!missing.empty()) {
        // The root group is the first of each convention.
        set(outline.groups.front().attributes, {"forebay_missing_files", missing});
    }
    return outline;
}

}  // namespace forebay::outline

#include "insight/insitu/particle_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace forebay::insitu {

std::string table_of(const Variable& column) {
    const auto cut = column.name.rfind('/');
    return cut == std::string::npos ? column.name : column.name.substr(0, cut);
}

Result<> check_columns(const Analysis& analysis, std::span<const Variable> variables) {
    for (const auto& variable : variables) {
        const auto refuse = [&](const std::string& why) {
            return Error{ErrorKind::refused, fmt::format("analysis '{}' of variable '{}' is refused: {}", analysis.name,
                                                         variable.name, why)};
        };
        if (variable.kind != Kind::particles) return refuse("it is not a column of particles");
        if (variable.table != variables[0].table)
            return refuse(fmt::format("it is not in the table of '{}'", variables[0].name));
    }
    return {};
}

Result<std::array<double, 3>> domain_of(const Analysis& analysis) {
    const auto& given = analysis.length;
    const bool fits = given.size() == 1 || given.size() == 3;
    if (!fits || !std::ranges::all_of(given, [](double length) { return std::isfinite(length) && length > 0; }))
        return Error{ErrorKind::refused,
                     fmt::format("analysis '{}' is refused: it needs the domain's length, one or three numbers above 0",
                                 analysis.name),
                     "", "give it the option `length`"};
    if (given.size() == 1) return std::array{given[0], given[0], given[0]};
    return std::array{given[0], given[1], given[2]};
}

}  // namespace forebay::insitu

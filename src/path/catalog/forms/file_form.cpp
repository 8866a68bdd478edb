#include "path/catalog/forms/file_form.hpp"

#include <fmt/format.h>

#include <array>

namespace forebay::catalog {

// In the order of format::FormKind.
std::span<const FileForm* const> all_forms() {
    static const std::array<const FileForm*, 3> forms{&own_form(), &combined_form(), &shared_form()};
    static_assert(std::variant_size_v<format::Form> == std::tuple_size_v<decltype(forms)>);
    return forms;
}

const FileForm& form_of(format::FormKind kind) { return *all_forms()[static_cast<std::size_t>(kind)]; }

Error not_of_this(const std::string& path, const std::string& why) {
    return {ErrorKind::refused, fmt::format("{} does not belong to this snapshot: {}", path, why),
            "all staged copies. Nothing was committed, moved or removed",
            "move the file away and drain that node again"};
}

}  // namespace forebay::catalog

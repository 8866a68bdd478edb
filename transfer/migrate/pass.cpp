#include "transfer/migrate/pass.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forebay::migrate {

Result<Pass> pass_from(const std::string& option, const std::string& word) {
    const auto name = std::ranges::find(pass_names, word);
    if (name != pass_names.end()) return static_cast<Pass>(name - pass_names.begin());
    return Error{ErrorKind::refused, fmt::format("{} {}: the passes are {}", option, word, fmt::join(pass_names, ", ")),
                 "nothing was changed"};
}

}  // namespace forebay::migrate

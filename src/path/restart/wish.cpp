#include "path/restart/wish.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/base/limits.hpp"
#include "core/base/show_text.hpp"

namespace forebay::restart {

Result<std::optional<RestartWish>> wish_of(const std::string& value) {
    if (value.empty()) return std::optional<RestartWish>();
    if (value == "none") return std::optional(RestartWish{.anew = true, .words = "FOREBAY_RESTART=none"});
    std::int64_t step = -1;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), step);
    if (error == std::errc{} && end == value.data() + value.size() && step >= 0 && step <= limits::step_max)
        return std::optional(RestartWish{.step = step, .words = fmt::format("FOREBAY_RESTART={}", step)});
    return Error{
        ErrorKind::refused,
        fmt::format("FOREBAY_RESTART is \"{}\", and must be a step or \"none\". Nothing was opened", show_text(value)),
        "", "set it to a step, such as 300, to \"none\", or leave it out"};
}

}  // namespace forebay::restart

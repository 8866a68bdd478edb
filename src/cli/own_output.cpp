#include "cli/own_output.hpp"

#include <fmt/format.h>

#include "base/try.hpp"
#include "catalog/output.hpp"
#include "format/advice.hpp"
#include "move/export_place.hpp"

namespace forebay::cli {

namespace {

constexpr std::uint64_t looked_at_max = 16u << 20;

}  // namespace

Result<> check_own_output(sys::Store& store, const std::string& path, bool replace,
                          const std::function<bool(std::string_view)>& is_ours, const char* kind) {
    FB_TRY(catalog::check_output(store, path));
    FB_TRY(move::check_target(store, path, true, "nothing was written"));
    FB_TRY_ASSIGN(there, store.exists(path));
    if (!there || replace) return {};
    const auto contents = sys::read_text(store, path, looked_at_max);
    if (contents && is_ours(*contents)) return {};
    return Error{ErrorKind::refused, fmt::format("{} exists, and is no {}", path, kind), "",
                 "another name, or --replace"};
}

bool is_advice(std::string_view text, std::string_view kind) {
    const auto advice = format::decode_advice(text, "");
    return advice && advice->kind == kind;
}

}  // namespace forebay::cli

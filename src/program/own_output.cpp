#include "program/own_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/base/try.hpp"
#include "core/format/advice.hpp"
#include "core/move/export_place.hpp"
#include "path/catalog/output.hpp"

namespace forebay::cli {

namespace {

constexpr std::uint64_t looked_at_max = 16u << 20;

Result<std::string> beginning_of(sys::Store& store, const std::string& path) {
    FB_TRY_ASSIGN(file, store.open(path, sys::Access::read));
    FB_TRY_ASSIGN(size, file->size());
    std::string text(std::min(size, looked_at_max), '\0');
    FB_TRY(file->read(0, std::as_writable_bytes(std::span(text))));
    return text;
}

}  // namespace

Result<> check_own_output(sys::Store& store, const std::string& path, bool replace,
                          const std::function<bool(std::string_view)>& is_ours, const char* kind) {
    FB_TRY(catalog::check_output(store, path));
    FB_TRY(move::check_target(store, path, true, "nothing was written"));
    FB_TRY_ASSIGN(there, store.exists(path));
    if (!there || replace) return {};
    const auto contents = beginning_of(store, path);
    if (contents && is_ours(*contents)) return {};
    return Error{ErrorKind::refused, fmt::format("{} exists, and is no {}", path, kind), "",
                 "choose another name, or give --replace"};
}

bool is_advice(std::string_view text, std::string_view kind) {
    const auto advice = format::decode_advice(text, "");
    return advice && advice->kind == kind;
}

}  // namespace forebay::cli

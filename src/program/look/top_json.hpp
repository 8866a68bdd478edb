// A TopView as JSON.

#pragma once

#include "core/terminal/json.hpp"
#include "program/look/top_view.hpp"

namespace forebay::cli {

/// Its keys, for the help of `forebay top`.
extern const char* const top_json_keys;

Json json_of(const TopView& view);

}  // namespace forebay::cli

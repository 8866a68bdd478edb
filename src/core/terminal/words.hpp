// Values as both kinds of output of the verbs show them.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/format/manifest.hpp"
#include "core/terminal/json.hpp"
#include "forebay/describe.hpp"

namespace forebay::cli {

/// Text such as "0-3, 8".
std::string show_ranks(std::span<const format::RankRange> ranks);

/// The words of `text` in lines as wide as the terminal; all lines but the first are indented by the width of `head`.
std::string wrapped(const std::string& head, const std::string& text);

Json json_of(const Extents& shape);
Json json_of(std::span<const format::Mark> marks);

}  // namespace forebay::cli

// The analyses of a stream as text in its entry of the control page. The text outlives the application with the page.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "forebay/options.hpp"
#include "forebay/result.hpp"

namespace forebay::node {

/// `refused`, with the stream's name, if the analyses need more text than the page has room for.
Result<> check(const std::vector<Analysis>& analyses, const std::string& stream);

/// JSON with each option that differs from its default. "" if there are no analyses.
std::string encode_analyses(const std::vector<Analysis>& analyses);
/// `corrupt` for a text that encode_analyses() would not write from analyses that check_values() accepts.
Result<std::vector<Analysis>> decode_analyses(std::string_view text);

}  // namespace forebay::node

// The analyses of a stream as its entry of the control page holds them: text that outlives the application with the
// page.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "forebay/options.hpp"
#include "forebay/result.hpp"

namespace forebay::node {

/// `refused` where they are too many to be written down, with the stream named.
Result<> check(const std::vector<Analysis>& analyses, const std::string& stream);

/// JSON, each option that is not as it is by default. No text where there are none.
std::string encode_analyses(const std::vector<Analysis>& analyses);
/// `corrupt` for what encode_analyses() does not give of analyses that check_values() accepts.
Result<std::vector<Analysis>> decode_analyses(std::string_view text);

}  // namespace forebay::node

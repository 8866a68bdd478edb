// Texts about abandoned lines: their steps, how long they stay, and the commands to bring them back or remove them.

#pragma once

#include <string>
#include <vector>

#include "path/catalog/history.hpp"

namespace forebay::cli {

/// One sentence for each abandoned line of the stream.
std::vector<std::string> left_lines(const std::string& run, const std::string& stream, const catalog::History& history);

}  // namespace forebay::cli

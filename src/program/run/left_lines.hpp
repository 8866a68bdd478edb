// The lines that a run has left, in words: which steps, how they stay, and the commands that bring them back or remove
// them.

#pragma once

#include <string>
#include <vector>

#include "path/catalog/history.hpp"

namespace forebay::cli {

/// A sentence for each line that the stream has left.
std::vector<std::string> left_lines(const std::string& run, const std::string& stream, const catalog::History& history);

}  // namespace forebay::cli

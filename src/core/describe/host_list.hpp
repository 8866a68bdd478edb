// Lists of hosts as Slurm writes them: "nid00[123,977]", "login1,nid[0001-0004]".

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::describe {

/// Names in the order of the list. `refused` for what is no list, or has more than 100,000 names. Blanks and ends of
/// lines part names as commas do, so that a file of one name a line is a list; from "#" to the end of its line is a
/// comment.
Result<std::vector<std::string>> hosts_of(std::string_view list);

/// The shortest that we know how: sorted, each once, ranges of numbers of one width.
std::string show_hosts(std::vector<std::string> hosts);

/// "0-13,15-23" of numbers in ascending order.
std::string show_numbers(const std::vector<std::uint64_t>& numbers);

}  // namespace forebay::describe

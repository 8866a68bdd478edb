// Lists of hosts in the syntax of Slurm: "nid00[123,977]", "login1,nid[0001-0004]".

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::describe {

/// Returns the names in the order of the list. `refused` if it is not a list or has more than 100,000 names. Commas,
/// blanks and line ends separate names, so a file with one name a line is a list. A comment goes from "#" to the end of
/// the line.
Result<std::vector<std::string>> hosts_of(std::string_view list);

/// Returns a short list: sorted, each name once, with ranges of numbers of equal width.
std::string show_hosts(std::vector<std::string> hosts);

/// Returns "0-13,15-23" for numbers in ascending order.
std::string show_numbers(const std::vector<std::uint64_t>& numbers);

}  // namespace forebay::describe

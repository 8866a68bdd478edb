// Words of rsync, rclone, tar, dsync, cp and rm, and what is meant by them here, as
// transfer/docs/how-to/from-rsync.md has it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forebay::cli {

/// What to do in place of an option that a verb of trees has not; empty where no such word is known, or where it would
/// be an option that is none of `known`.
std::string option_meant(std::string_view verb, std::string_view option, const std::vector<std::string>& known);
/// The same of a verb that there is not.
std::string verb_meant(std::string_view word);

/// The known word that differs from `word` by a slip of the fingers or is begun by it; empty where none does: a guess
/// may name the opposite.
std::string slip_of(std::string_view word, const std::vector<std::string>& known);

}  // namespace forebay::cli

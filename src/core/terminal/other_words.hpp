// Words of rsync, rclone, tar, dsync, cp and rm, and their meaning here, as in transfer/docs/how-to/from-rsync.md.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forebay::cli {

/// Advice for an option that a tree verb lacks. Empty if the word is unknown, or if the advice is an option that is not
/// in `known`.
std::string option_meant(std::string_view verb, std::string_view option, const std::vector<std::string>& known);
/// The same for an unknown verb.
std::string verb_meant(std::string_view word);

/// The known word that `word` begins or is a typing slip of. Empty if there is none: a wild guess might suggest the
/// opposite.
std::string slip_of(std::string_view word, const std::vector<std::string>& known);

}  // namespace forebay::cli

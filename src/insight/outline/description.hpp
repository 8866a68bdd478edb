// A description file: facts about variables, added later for views, if the application did not give them. TOML:
//
//   [file]
//   author = "A. Person"
//   timeUnitSI = 1e-15
//
//   [variables."fields/*"]            # a name, or a pattern with `*`; later rules overrule earlier ones
//   unit = "V/m"
//   dimensions = ["z", "y", "x"]
//   gridSpacing = [0.1, 0.1, 0.2]
//
// It lies in the stream's directory as `describe.toml`, or `forebay view --describe` names it.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sys/store.hpp"
#include "insight/outline/contents.hpp"

namespace forebay::outline {

inline constexpr const char* description_name = "describe.toml";

struct Description {
    struct Rule {
        std::string pattern;
        std::vector<std::pair<std::string, AttributeValue>> attributes;  // also "unit" and "description"
        std::vector<std::string> dimensions;
    };
    std::vector<std::pair<std::string, AttributeValue>> file;
    std::vector<Rule> rules;  // in file order
};

/// `refused`, with the line, if the text is not TOML or not of this form.
Result<Description> parse_description(const std::string& text, const std::string& path);

/// The path that load_description() reads, even if no file is there.
std::string description_path(const std::string& stream_directory, const std::string& path);

/// Reads the file at `path`, or with an empty path the stream's own file, if any. `missing` if the given file does not
/// exist.
Result<Description> load_description(sys::Store& store, const std::string& stream_directory, const std::string& path);

/// Applies the description to the variables. `refused` for a rule without a matching variable, or with a wrong number
/// of dimensions: a typing mistake would otherwise go unseen.
Result<> describe(Contents& contents, const Description& description);

}  // namespace forebay::outline

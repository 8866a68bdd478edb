// A description file: what is said of variables after the fact, for views, where the application said nothing. TOML:
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
// It stands in the stream's directory as `describe.toml`, or is named by `forebay view --describe`.

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
        std::vector<std::pair<std::string, AttributeValue>> attributes;  // "unit" and "description" among them
        std::vector<std::string> dimensions;
    };
    std::vector<std::pair<std::string, AttributeValue>> file;
    std::vector<Rule> rules;  // as they stand in the file
};

/// `refused`, with the line, for what is no TOML or not of the form above.
Result<Description> parse_description(const std::string& text, const std::string& path);

/// What load_description() reads, whether it is there or not.
std::string description_path(const std::string& stream_directory, const std::string& path);

/// The file at `path`; or, with an empty one, the stream's own if there is one. `missing` when a named one is not
/// there.
Result<Description> load_description(sys::Store& store, const std::string& stream_directory, const std::string& path);

/// Says it of the contents' variables. `refused` for a rule without any variable, or with another number of dimensions
/// than an array has: it would be a typing mistake that nobody sees.
Result<> describe(Contents& contents, const Description& description);

}  // namespace forebay::outline

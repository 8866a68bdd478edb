// Rules by which the agent compresses a stream's node files, as its entry of the control page holds them: text that
// outlives the application with the page.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forebay/options.hpp"
#include "forebay/result.hpp"

namespace forebay::node {

struct CompressionRules {
    Compression all;
    std::vector<std::pair<std::string, Compression>> variables;  // by pattern; the first that fits counts

    /// Whether any variable may be compressed.
    bool any() const;
    const Compression& of(std::string_view variable) const;
};

CompressionRules rules_of(const StreamOptions& options);

/// `refused` for what cannot work, with the stream and the variable named.
Result<> check(const CompressionRules& rules, const std::string& stream);

/// JSON. No text when nothing is compressed.
std::string encode_rules(const CompressionRules& rules);
/// `corrupt` for what encode_rules() does not give.
Result<CompressionRules> decode_rules(std::string_view text);

}  // namespace forebay::node

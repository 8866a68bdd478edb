// The rules by which the agent compresses a stream's node files, as text in the stream's entry of the control page. The
// text outlives the application with the page.

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
    std::vector<std::pair<std::string, Compression>> variables;  // by pattern; the first match counts

    /// True if a variable may be compressed.
    bool any() const;
    const Compression& of(std::string_view variable) const;
};

CompressionRules rules_of(const StreamOptions& options);

/// `refused`, with the stream and the variable, if a rule cannot work.
Result<> check(const CompressionRules& rules, const std::string& stream);

/// JSON; "" if nothing is compressed.
std::string encode_rules(const CompressionRules& rules);
/// `corrupt` for a text that encode_rules() would not write.
Result<CompressionRules> decode_rules(std::string_view text);

}  // namespace forebay::node

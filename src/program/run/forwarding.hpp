// Forwarders on the command line.

#pragma once

#include <string>
#include <vector>

#include "path/node/staging.hpp"

namespace forebay::cli {

/// What a token file holds.
Result<std::string> read_token(const std::string& path);

/// --forward-to and --token-file; none when neither is given, `refused` when one of the two is.
Result<node::Forwarding> forwarding_of(const std::vector<std::string>& to, const std::string& token_file);

}  // namespace forebay::cli

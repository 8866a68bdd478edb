// Forwarders on the command line.

#pragma once

#include <string>
#include <vector>

#include "path/node/staging.hpp"

namespace forebay::cli {

/// The token in a file.
Result<std::string> read_token(const std::string& path);

/// --forward-to and --token-file. Empty if both are missing; `refused` if one is missing.
Result<node::Forwarding> forwarding_of(const std::vector<std::string>& to, const std::string& token_file);

}  // namespace forebay::cli

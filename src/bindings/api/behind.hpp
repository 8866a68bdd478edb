// The common part of the bindings for interfaces of other libraries: the ranks that opened a file, and settings from
// the environment. The module `made` does the work in the background.

#pragma once

#include <functional>
#include <string>

#include "bindings/compat/made/file_ranks.hpp"
#include "bindings/compat/made/making.hpp"
#include "forebay/forebay.hpp"

namespace forebay::behind {

struct SessionRanks : made::FileRanks {
    /// Opens a session over these ranks. Collective.
    std::function<Result<Session>(const Options&)> open;
};

SessionRanks alone();

/// Reads the file in FOREBAY_NAME_CONFIG, and FOREBAY_NAME_KEEP. `name` is, for example, "H5PART".
Result<made::Settings> settings(const std::string& name);

}  // namespace forebay::behind

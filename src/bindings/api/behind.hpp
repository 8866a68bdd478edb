// The part that the bindings with other libraries' interfaces share: the ranks that opened a file, and settings from
// the
// environment. The work behind the application is in the room `made`.

#pragma once

#include <functional>
#include <string>

#include "bindings/compat/made/file_ranks.hpp"
#include "bindings/compat/made/making.hpp"
#include "forebay/forebay.hpp"

namespace forebay::behind {

struct SessionRanks : made::FileRanks {
    /// A session over them. Collective.
    std::function<Result<Session>(const Options&)> open;
};

SessionRanks alone();

/// From the file that FOREBAY_NAME_CONFIG names, and from FOREBAY_NAME_KEEP; `name` is as "H5PART".
Result<made::Settings> settings(const std::string& name);

}  // namespace forebay::behind

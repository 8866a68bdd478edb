// The staging directory of a session before the session opens.

#pragma once

#include <string>

#include "forebay/options.hpp"
#include "path/catalog/run.hpp"
#include "path/node/staging.hpp"

namespace forebay::test {

/// The staging directory of a node of the run. Makes the run if it is missing.
inline std::string staging_of(const Options& options, int virtual_index = 0) {
    const auto run_id = catalog::make_identity(sys::posix_store(), options.run).value();
    return node::staging_directory(options.staging, options.run, run_id, static_cast<std::uint32_t>(virtual_index))
        .value();
}

}  // namespace forebay::test

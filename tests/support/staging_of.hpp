// Where a session stages, known before it is opened.

#pragma once

#include <string>

#include "forebay/options.hpp"
#include "path/catalog/run.hpp"
#include "path/node/staging.hpp"

namespace forebay::test {

/// Of a node of the run, which is made if it is missing.
inline std::string staging_of(const Options& options, int virtual_index = 0) {
    const auto run_id = catalog::make_identity(sys::posix_store(), options.run).value();
    return node::staging_directory(options.staging, options.run, run_id, static_cast<std::uint32_t>(virtual_index))
        .value();
}

}  // namespace forebay::test

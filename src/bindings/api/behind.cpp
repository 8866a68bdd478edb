#include "bindings/api/behind.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string_view>

#include "bindings/api/state.hpp"
#include "core/base/try.hpp"
#include "path/agent/hosts.hpp"

namespace forebay::behind {

SessionRanks alone() {
    return {{.world = comm::alone(), .key = ""}, [](const Options& options) { return Session::open(options); }};
}

Result<made::Settings> settings(const std::string& name) {
    made::Settings found;
    const auto* path = std::getenv(fmt::format("FOREBAY_{}_CONFIG", name).c_str());
    if (path != nullptr && *path != '\0') {
        FB_TRY_ASSIGN(options, load_options(path));
        found.options = std::move(options);
        found.options.run_in_file.clear();  // the run is beside the file, whatever the configuration says
    }
    found.options.log = log_of(found.options);  // for waits before the session is open, too
    const auto* keep = std::getenv(fmt::format("FOREBAY_{}_KEEP", name).c_str());
    found.keep = keep != nullptr && std::string_view(keep) != "" && std::string_view(keep) != "0";
    found.program = agent::agent_program(found.options.agent.program);
    return found;
}

}  // namespace forebay::behind

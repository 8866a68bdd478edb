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
    made::Settings settings;
    const auto* path = std::getenv(fmt::format("FOREBAY_{}_CONFIG", name).c_str());
    if (path != nullptr && *path != '\0') {
        FB_TRY_ASSIGN(options, load_options(path));
        settings.options = std::move(options);
        settings.options.run_in_file.clear();  // the run lies beside the file, whatever the configuration has
    }
    settings.options.log = log_of(settings.options);  // also for waits before the session is open
    const auto* keep = std::getenv(fmt::format("FOREBAY_{}_KEEP", name).c_str());
    settings.keep = keep != nullptr && std::string_view(keep) != "" && std::string_view(keep) != "0";
    settings.program = agent::agent_program(settings.options.agent.program);
    return settings;
}

}  // namespace forebay::behind

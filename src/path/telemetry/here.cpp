#include "path/telemetry/here.hpp"

#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "path/node/staging.hpp"
#include "path/node/watch.hpp"

namespace forebay::telemetry {

void look_here(Chronicle& chronicle, const std::string& staging) {
    const auto directories = node::staging_directories_of(staging, chronicle.run);
    if (!directories) return;  // a host that never ran a simulation has no such place
    const auto host = sys::host_name();
    for (const auto& directory : *directories) {
        const auto watch = node::Watch::open(directory);
        if (!watch) continue;
        const auto virtual_node = node::virtual_index_of(directory);
        for (auto& status : chronicle.statuses) {
            // The directory may belong to a later session than the status line.
            if (status.host != host || status.virtual_node != virtual_node ||
                status.session != watch->page().session.load())
                continue;
            status.is_gone = !sys::lock_is_held(node::agent_lock_path(directory));
            status.application_lives =
                status.application_lives && sys::lock_is_held(node::application_lock_path(directory));
        }
    }
}

}  // namespace forebay::telemetry

// The place to which an agent writes: the target itself, or a forwarder that writes to it.

#pragma once

#include <memory>

#include "core/move/retry.hpp"
#include "path/agent/view_maker.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

struct Target {
    std::shared_ptr<sys::Store> store;
    ViewMaker make_view;  // a forwarder makes views at its own place
};

/// How often drains and commits of a session are repeated.
move::RetryOptions retry_options(const node::SessionFile& session);

/// Does not connect yet. `make_view` is used without forwarders; as in run_agent().
Result<Target> target_of(const std::string& run, const node::Forwarding& forwarding, const ViewMaker& make_view);

}  // namespace forebay::agent

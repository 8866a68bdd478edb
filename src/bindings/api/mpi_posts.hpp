// The dedicated agents of a session's machine, and the forwarders of its job.

#pragma once

#include <span>

#include "path/agent/post.hpp"
#include "path/node/staging.hpp"

namespace forebay {

/// The result of dedicate(). Empty if it was not called, or in another mode.
std::span<agent::Post> posts_of_process();
/// The hosts that dedicate() split off. Empty if there are none.
node::Forwarding forwarding_of_process();

}  // namespace forebay

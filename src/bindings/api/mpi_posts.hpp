// How a session finds the dedicated agents of its machine, and the forwarders of its job.

#pragma once

#include <span>

#include "path/agent/post.hpp"
#include "path/node/staging.hpp"

namespace forebay {

/// What dedicate() made; empty where it was not called, or the mode is another.
std::span<agent::Post> posts_of_process();
/// Of the hosts that dedicate() split off; empty where there are none.
node::Forwarding forwarding_of_process();

}  // namespace forebay

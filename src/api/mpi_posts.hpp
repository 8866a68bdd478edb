// How a session finds the dedicated agents of its machine.

#pragma once

#include <span>

#include "drain/post.hpp"

namespace forebay {

/// What dedicate() made; empty where it was not called, or the mode is another.
std::span<drain::Post> posts_of_process();

}  // namespace forebay

// What both extension modules know of the options of a session.

#pragma once

#include "forebay/forebay.hpp"

namespace forebay {

/// Options, or why there are none: the call that opens with them tells it, on every rank.
struct WishedOptions {
    Result<Options> options;
};

}  // namespace forebay

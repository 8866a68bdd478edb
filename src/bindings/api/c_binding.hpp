// The common part of the two libraries of the C binding: handles, and the conversion of answers.

#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>

#include "forebay/forebay.h"
#include "forebay/forebay.hpp"

struct fb_options {
    forebay::Result<forebay::Options> value;  // an error is returned by the call that opens with these options
};
struct fb_session {
    forebay::Session value;
    std::string spool = {};  // the text of the last fb_spool()
};
struct fb_stream {
    forebay::Stream value;
    std::string counters = {};  // the text of the last fb_counters_text()
};
struct fb_particles {
    forebay::Particles value;
};
struct fb_restart {
    forebay::Restart value;
};
struct fb_direct {
    forebay::DirectSave value;
};

namespace forebay::c_binding {

/// Copies the text of `why` into `error`, which may be null.
fb_status tell(const Error& why, fb_error* error);

/// Calls `body`, which returns a Result<>. No exception gets out.
template <class Body>
fb_status guarded(fb_error* error, Body&& body) noexcept {
    try {
        const Result<> done = body();
        return done ? FB_OK : tell(done.error(), error);
    } catch (const std::bad_alloc&) {
        return tell({ErrorKind::full, "this process has no more memory."}, error);
    } catch (const Exception& thrown) {
        return tell(thrown.error(), error);
    } catch (const std::exception& thrown) {
        return tell({ErrorKind::broken, thrown.what()}, error);
    }
}

std::string text_or_empty(const char* text);

/// `refused` for a null handle. `what` is the name of its type.
template <class Handle>
Result<> given(const Handle* handle, const char* what) {
    if (handle != nullptr) return {};
    return Error{ErrorKind::refused, std::string("a call got NULL instead of an ") + what + "."};
}

}  // namespace forebay::c_binding

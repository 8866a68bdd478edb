// Our own mistakes: FB_CHECK(condition, text) states what must hold whatever users and disks do. It is compiled into
// the presets dev and audit and the sanitizer builds, where it ends the process; elsewhere it costs nothing and its
// condition is not evaluated. What a user, a file or a disk can cause is a Result, never a check.
//
// __FILE__ and not std::source_location, which clang 14, whose tools read this, does not have.

#pragma once

namespace forebay {

/// Writes the place, the condition and `text` to standard error and aborts.
[[noreturn]] void check_failed(const char* condition, const char* text, const char* file, int line);

}  // namespace forebay

#ifdef FOREBAY_AUDIT
#define FB_CHECK(condition, text) ((condition) ? void() : ::forebay::check_failed(#condition, text, __FILE__, __LINE__))
#else
#define FB_CHECK(condition, text) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif

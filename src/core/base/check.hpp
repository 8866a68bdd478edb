// Our own mistakes: FB_CHECK(condition, text) states a condition that no user and no disk can break. The presets dev
// and audit and the sanitizer builds compile it in: a broken check ends the process. In other builds it costs nothing
// and its condition is not evaluated. For faults of users, files and disks return a Result, never use a check.
//
// __FILE__ and not std::source_location: clang 14, whose tools read this, does not have it.

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

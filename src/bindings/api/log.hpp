// Where the lines of a session go.

#pragma once

#include <functional>
#include <string>

#include "core/base/attempt.hpp"
#include "forebay/options.hpp"
#include "path/node/long_wait.hpp"

namespace forebay {

/// The receiver of a session's log lines: Options::log, else standard error where that is asked for, else none.
std::function<void(const std::string&)> log_of(const Options& options);

/// The application beside the waits of a rank: it hears lines on rank 0, and interrupts on any. It throws nothing.
node::Say say_of(const Options& options, bool is_first_rank);

/// Hands a line, which `text` makes, to the application's log. Needs no agreement: what is thrown is left out.
template <class Text>
void log_to(const node::Say& say, const Text& text) {
    if (say) static_cast<void>(attempt([&] { say(text()); }));
}

/// Prints a line to standard error. Only for damage that nobody would see otherwise.
void warn(const std::string& text);

}  // namespace forebay

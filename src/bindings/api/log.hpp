// The receiver of a session's log lines.

#pragma once

#include <functional>
#include <string>

#include "core/base/attempt.hpp"
#include "forebay/options.hpp"
#include "path/node/long_wait.hpp"

namespace forebay {

/// Returns Options::log, else a function that prints to standard error if the user asked for it, else an empty
/// function.
std::function<void(const std::string&)> log_of(const Options& options);

/// The application's part in waits: on rank 0 it gets lines, on any rank it may interrupt. It never throws.
node::Say say_of(const Options& options, bool is_first_rank);

/// Sends the line that `text` makes to the application's log. It needs no agreement: if `text` throws, the line is
/// dropped.
template <class Text>
void log_to(const node::Say& say, const Text& text) {
    if (say) static_cast<void>(attempt([&] { say(text()); }));
}

/// Prints a line to standard error. Only for damage that nobody would notice otherwise.
void warn(const std::string& text);

}  // namespace forebay

// Printing for people, without the formatting of say.hpp: for modules that make their own lines.

#pragma once

#include "core/terminal/table.hpp"
#include "forebay/result.hpp"

namespace forebay::cli {

/// Prints to standard output.
void say(const Shown& shown);

/// Prints to standard error, for news while a verb works.
void note(const Shown& shown);

/// Prints the error's text() to standard error.
void print_error(const Error& error);

}  // namespace forebay::cli

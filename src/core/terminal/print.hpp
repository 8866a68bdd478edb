// Where the programs print for people, without the formatting of say.hpp: for rooms that make their lines themselves.

#pragma once

#include "core/terminal/table.hpp"
#include "forebay/result.hpp"

namespace forebay::cli {

/// To standard output.
void say(const Shown& shown);

/// What goes on while a verb works, to standard error.
void note(const Shown& shown);

/// To standard error: its text().
void print_error(const Error& error);

}  // namespace forebay::cli

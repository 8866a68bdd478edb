#include <unistd.h>

#include "sys/machine.hpp"

namespace forebay::sys {

bool is_terminal(Output output) { return ::isatty(output == Output::error ? STDERR_FILENO : STDOUT_FILENO) == 1; }

}  // namespace forebay::sys

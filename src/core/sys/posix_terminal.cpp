#include <sys/ioctl.h>
#include <unistd.h>

#include "core/sys/machine.hpp"

namespace forebay::sys {

bool is_terminal(Output output) { return ::isatty(output == Output::error ? STDERR_FILENO : STDOUT_FILENO) == 1; }

int terminal_columns() {
    struct winsize size {};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace forebay::sys

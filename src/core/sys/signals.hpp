// Signals that must not end a program.

#pragma once

namespace forebay::sys {

/// SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE and SIGCONT no longer end this process. Programs that it starts have the usual
/// meaning of these signals.
void live_through_other_signals();

}  // namespace forebay::sys

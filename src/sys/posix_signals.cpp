// Signals as something to wait for.

#include <pthread.h>
#include <signal.h>

#include "sys/process.hpp"

namespace forebay::sys {

namespace {

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

}  // namespace

EndSignals::EndSignals() {
    const auto set = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void EndSignals::wait() {
    const auto set = ending_signals();
    int got = 0;
    while (::sigwait(&set, &got) != 0) continue;
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace forebay::sys

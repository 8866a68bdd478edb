// Signals as something to wait for.

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "sys/process.hpp"

namespace forebay::sys {

namespace {

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    // Of a program under nohup its end would be wrong, and what is blocked is not ignored any more.
    struct sigaction hang_up {};
    if (::sigaction(SIGHUP, nullptr, &hang_up) != 0 || hang_up.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
    return set;
}

}  // namespace

EndSignals::EndSignals() {
    const auto set = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int EndSignals::wait() {
    const auto set = ending_signals();
    int got = 0;
    while (::sigwait(&set, &got) != 0) continue;
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    return got;
}

int EndSignals::come() const {
    const auto set = ending_signals();
    const struct timespec at_once {};
    const int got = ::sigtimedwait(&set, nullptr, &at_once);
    return got > 0 ? got : 0;
}

void EndSignals::end_by(int signal) {
    ::signal(signal, SIG_DFL);
    const auto set = ending_signals();
    ::raise(signal);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    ::_exit(128 + signal);
}

}  // namespace forebay::sys

// Waiting for signals.

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <string>

#include "core/base/error_text.hpp"
#include "core/sys/process.hpp"
#include "core/sys/signals.hpp"

namespace forebay::sys {

namespace {

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    // SIGHUP must not end a program under nohup, and a blocked signal is no longer ignored.
    struct sigaction hang_up {};
    if (::sigaction(SIGHUP, nullptr, &hang_up) != 0 || hang_up.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
    return set;
}

// A handler can use nothing else. Written before the handler is set.
std::array<char, 512> last_words{};
std::size_t last_words_bytes = 0;

// SA_RESETHAND has restored the usual meaning of the signal. The raised signal waits until this function returns.
void say_and_end(int signal) {
    static_cast<void>(::write(STDERR_FILENO, last_words.data(), last_words_bytes) < 0);
    ::raise(signal);
}

}  // namespace

void say_when_ended(const std::string& safe, const std::string& next) {
    const bool after_bar = ::isatty(STDERR_FILENO) != 0;  // the line of a progress bar is not ended
    const auto line = (after_bar ? "\n" : "") + std::string(program_prefix) +
                      Error{.what = "ended by a signal", .safe = safe, .next = next}.line() + "\n";
    last_words_bytes = line.copy(last_words.data(), last_words.size());
    for (const int signal : {SIGINT, SIGTERM}) {
        struct sigaction action {
        }, old{};
        action.sa_handler = say_and_end;
        action.sa_flags = SA_RESETHAND;
        sigemptyset(&action.sa_mask);
        if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_DFL) ::sigaction(signal, &action, nullptr);
    }
}

void live_through_other_signals() {
    for (const int signal : {SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE, SIGCONT}) {
        struct sigaction action {};
        // A handler, because programs that are started would inherit ignored signals.
        action.sa_handler = [](int) {};
        action.sa_flags = SA_RESTART;
        sigemptyset(&action.sa_mask);
        static_cast<void>(::sigaction(signal, &action, nullptr));
    }
}

EndSignals::EndSignals() {
    const auto set = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int EndSignals::wait() {
    const auto set = ending_signals();
    int got = 0;
    while (::sigwait(&set, &got) != 0) continue;
    // The next signal ends the process.
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    return got;
}

int EndSignals::come() const {
    bool by_terminal = false;
    return come(by_terminal);
}

int EndSignals::come(bool& by_terminal) const {
    const auto set = ending_signals();
    const struct timespec at_once {};
    siginfo_t about{};
    const int got = ::sigtimedwait(&set, &about, &at_once);
    by_terminal = got > 0 && about.si_code == SI_KERNEL;
    return got > 0 ? got : 0;
}

void EndSignals::end_by(int signal) {
    ::signal(signal, SIG_DFL);
    const auto set = ending_signals();
    // The signal is still blocked here. It ends the process when it is unblocked.
    ::raise(signal);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    ::_exit(128 + signal);
}

}  // namespace forebay::sys

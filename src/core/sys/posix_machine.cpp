// Clocks, names, random numbers, the wait on shared memory, and the file of this code.

#include <grp.h>
#include <linux/futex.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <ctime>
#include <random>
#include <string_view>

#include <fmt/format.h>

#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/process.hpp"

namespace forebay::sys {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free,
              "the kernel waits on the word itself");

Result<std::string> kernel_text(const char* path) {
    Fd fd(open_no_intr(path, O_RDONLY));
    if (!fd.valid()) return posix_error("open", path, errno);
    std::string text;
    std::array<char, 4096> part{};
    while (true) {
        const ssize_t got = ::read(fd.get(), part.data(), part.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return posix_error("read", path, errno);
        if (got == 0) return text;
        text.append(part.data(), static_cast<std::size_t>(got));
    }
}

namespace {

std::chrono::nanoseconds time_of(clockid_t clock) {
    struct timespec time {};
    ::clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

std::int64_t unix_ns() { return time_of(CLOCK_REALTIME).count(); }

std::chrono::nanoseconds time_since_boot() { return time_of(CLOCK_BOOTTIME); }

std::chrono::nanoseconds thread_time() { return time_of(CLOCK_THREAD_CPUTIME_ID); }

std::string host_name() {
    std::array<char, HOST_NAME_MAX + 1> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
    return name.data();
}

std::string user_name() { return user_name(::geteuid()); }

std::string user_name(std::uint32_t user_id) {
    std::array<char, 4096> room{};
    struct passwd entry {};
    struct passwd* account = nullptr;
    if (::getpwuid_r(user_id, &entry, room.data(), room.size(), &account) == 0 && account != nullptr)
        return account->pw_name;
    return fmt::format("uid{}", user_id);
}

ProcessLimits process_limits() {
    const auto soft = [](__rlimit_resource_t which) -> std::uint64_t {
        struct rlimit limit {};
        if (::getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
        return limit.rlim_cur;
    };
    return {soft(RLIMIT_NOFILE), soft(RLIMIT_MEMLOCK), soft(RLIMIT_CORE), soft(RLIMIT_AS)};
}

std::uint32_t user_id() { return ::geteuid(); }

std::int64_t process_id() { return ::getpid(); }

Result<> become_user(std::uint32_t user_id) {
    if (::getuid() == user_id && ::geteuid() == user_id) return {};
    std::array<char, 4096> room{};
    struct passwd entry {};
    struct passwd* account = nullptr;
    if (::getpwuid_r(user_id, &entry, room.data(), room.size(), &account) != 0 || account == nullptr)
        return Error{ErrorKind::missing, fmt::format("this machine knows no user with the number {}", user_id)};
    // The user last: afterwards this process may change nothing.
    if (::initgroups(account->pw_name, account->pw_gid) != 0 || ::setgid(account->pw_gid) != 0 ||
        ::setuid(user_id) != 0)
        return posix_error("become user", account->pw_name, errno);
    return {};
}

std::string name_of_parent() {
    const auto comm = kernel_text(fmt::format("/proc/{}/comm", ::getppid()).c_str());
    std::string text = comm ? *comm : "";
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

std::string processor_name() {
    constexpr std::string_view label = "model name";
    const auto text = kernel_text("/proc/cpuinfo");
    const std::string_view all = text ? *text : std::string_view();
    if (const auto at = all.find(label); at != all.npos) {
        auto line = all.substr(at, all.find('\n', at) - at);
        if (const auto colon = line.find(": "); colon != line.npos) return std::string(line.substr(colon + 2));
    }
    struct utsname names {};
    return ::uname(&names) == 0 ? names.machine : "unknown processor";
}

std::uint32_t numa_node() {
    unsigned cpu = 0, node = 0;
    return ::getcpu(&cpu, &node) == 0 ? node : 0;
}

std::string boot_id() {
    const auto text = kernel_text("/proc/sys/kernel/random/boot_id");
    return text ? text->substr(0, text->find('\n')) : std::string();
}

std::string file_id(const std::string& path) {
    struct stat about {};
    if (::lstat(path.c_str(), &about) != 0) return {};
    return fmt::format("{}:{}", about.st_dev, about.st_ino);
}

std::uint64_t random_u64() {
    std::uint64_t value = 0;
    ssize_t got = -1;
    do {
        got = ::getrandom(&value, sizeof value, 0);
    } while (got < 0 && errno == EINTR);
    if (got == sizeof value) return value;
    std::random_device device("/dev/urandom");  // if getrandom is forbidden: the same source as a file
    return (static_cast<std::uint64_t>(device()) << 32) | device();
}

void wait_on(const std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds timeout) {
    if (timeout <= std::chrono::nanoseconds::zero()) return;
    timeout = std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(24));
    struct timespec left {};
    left.tv_sec = timeout.count() / 1'000'000'000;
    left.tv_nsec = timeout.count() % 1'000'000'000;
    // Without FUTEX_PRIVATE_FLAG, so that the kernel finds waiters in other mappings of the page. Each error means
    // "look again": the word differed, the time is over, or a signal came.
    (void)::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &left, nullptr, 0);
}

void wake_all(const std::atomic<std::uint32_t>& word) {
    (void)::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::string own_object_path() {
    // /proc/self/maps, not dladdr: dladdr repeats argv[0] or a relative search path, wrong after a chdir.
    const auto maps = kernel_text("/proc/self/maps");
    if (!maps) return {};
    const auto here = reinterpret_cast<std::uintptr_t>(&own_object_path);
    for (std::string_view rest = *maps; !rest.empty();) {
        const auto line_end = std::min(rest.find('\n'), rest.size());
        const auto line = rest.substr(0, line_end);
        rest.remove_prefix(std::min(line_end + 1, rest.size()));
        // 55e0c0a00000-55e0c0a02000 r-xp 00001000 fe:00 1234    /path
        std::uintptr_t begin = 0, end = 0;
        const auto dash = std::from_chars(line.data(), line.data() + line.size(), begin, 16).ptr;
        if (dash == line.data() + line.size() || *dash != '-') continue;
        std::from_chars(dash + 1, line.data() + line.size(), end, 16);
        const auto slash = line.find('/');
        if (here >= begin && here < end && slash != std::string_view::npos) return std::string(line.substr(slash));
    }
    return {};
}

}  // namespace forebay::sys

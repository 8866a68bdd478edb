#include "tree/last_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <sstream>

#include "base/siphash.hpp"
#include "base/try.hpp"
#include "sys/clock.hpp"
#include "sys/machine.hpp"
#include "sys/store.hpp"

namespace forebay::tree {

namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;
// The kernel stamps changes by a clock that is up to 10 ms late. Servers have clocks of their own, which sites keep
// alike.
constexpr std::int64_t tick_ns = 10'000'000, own_clock_ns = 50'000'000, other_clock_ns = 600 * ns_per_second;
// A clock that is set by less than this is not noticed.
constexpr std::int64_t set_ns = 10'000'000;
constexpr std::uint64_t kept_bytes_max = 4096;
constexpr std::size_t kept_max = 1000;  // pairs of places

sys::FileTime now_less(std::int64_t ns) {
    const auto then = sys::unix_ns() - ns;
    return {.seconds = then / ns_per_second, .nanoseconds = static_cast<std::uint32_t>(then % ns_per_second)};
}

std::int64_t since_start() { return std::chrono::nanoseconds(sys::Clock::now().time_since_epoch()).count(); }

// The time when the machine's other clock began, in nanoseconds: the same as long as nobody sets the clock. Both are
// drawn to the right time together. Of several looks the one counts that took the shortest.
std::int64_t clock_base() {
    std::int64_t base = 0, shortest = INT64_MAX;
    for (int look = 0; look < 5; ++look) {
        const auto before = since_start(), now = sys::unix_ns(), took = since_start() - before;
        if (took >= shortest) continue;
        shortest = took;
        base = now - before;
    }
    return base;
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value == '/' ? value : "";
}

// What is there already, and never made here.
std::string home_of_cache() {
    const auto home = variable("HOME"), cache = variable("XDG_CACHE_HOME");
    return cache.empty() ? home : cache.substr(0, cache.rfind('/'));
}

// Empty where this user has no home.
std::string own_folder() {
    const auto cache = variable("XDG_CACHE_HOME");
    if (!cache.empty()) return cache + "/forebay/copies";
    const auto home = variable("HOME");
    return home.empty() ? "" : home + "/.cache/forebay/copies";
}

std::istream& operator>>(std::istream& in, sys::FileTime& time) {
    char point = 0;
    return in >> time.seconds >> point >> time.nanoseconds;
}

std::string show(sys::FileTime time) { return fmt::format("{}.{:09}", time.seconds, time.nanoseconds); }

Result<std::string> identity_of(sys::Folder& source, sys::Folder& target) {
    FB_TRY_ASSIGN(from, source.status());
    FB_TRY_ASSIGN(to, target.status());
    FB_TRY_ASSIGN(from_system, source.file_system());
    FB_TRY_ASSIGN(to_system, target.file_system());
    return fmt::format("{} {} {}:{}:{:x} {}:{}:{:x}", sys::boot_id(), sys::own_capabilities(), from.id.device,
                       from.id.number, from_system.id, to.id.device, to.id.number, to_system.id);
}

// A file of ours in the source would be missed at the target, and one in the target would be too much. Of a folder that
// is not there the next one above counts.
Result<bool> lies_in_any(std::string folder, std::initializer_list<sys::Folder*> trees) {
    while (true) {
        const auto opened = sys::open_posix_folder(folder);
        if (!opened && opened.error().kind == ErrorKind::missing && folder.size() > 1) {
            folder.erase(std::max<std::size_t>(folder.rfind('/'), 1));
            continue;
        }
        if (!opened) return false;  // nothing will be kept there
        for (auto* tree : trees) {
            FB_TRY_ASSIGN(status, tree->status());
            FB_TRY_ASSIGN(lies_in, (*opened)->lies_in(status.id));
            if (lies_in) return true;
        }
        return false;
    }
}

Result<std::int64_t> clock_margin(sys::Folder& folder) {
    FB_TRY_ASSIGN(about, folder.file_system());
    return about.has_own_clock ? own_clock_ns : other_clock_ns;
}

}  // namespace

Result<std::int64_t> clock_margin_seconds(sys::Folder& source, sys::Folder& target) {
    FB_TRY_ASSIGN(of_source, source.file_system());
    FB_TRY_ASSIGN(of_target, target.file_system());
    return of_source.has_own_clock && of_target.has_own_clock ? 0 : other_clock_ns / ns_per_second;
}

Result<sys::FileTime> settled_time(sys::Folder& folder) {
    FB_TRY_ASSIGN(about, folder.file_system());
    return now_less(about.has_own_clock ? tick_ns : other_clock_ns);
}

Result<LastCopy> LastCopy::find(sys::Folder& source, sys::Folder& target, const std::string& places) {
    LastCopy last;
    FB_TRY_ASSIGN(identity, identity_of(source, target));
    FB_TRY_ASSIGN(source_margin, clock_margin(source));
    FB_TRY_ASSIGN(target_margin, clock_margin(target));
    last.identity_ = identity;
    last.clock_base_ = clock_base();
    last.own_ = {.entries = {now_less(source_margin), now_less(target_margin)}, .target_folders = {}};
    const auto folder = own_folder();
    if (folder.empty()) return last;
    FB_TRY_ASSIGN(is_in_trees, lies_in_any(folder, {&source, &target}));
    if (is_in_trees) return last;
    last.path_ = fmt::format("{}/{:016x}", folder, siphash({}, std::as_bytes(std::span(places))));
    const auto text = sys::read_text(sys::posix_store(), last.path_, kept_bytes_max);
    if (!text) return last;
    std::istringstream in(*text);
    std::string kept_identity, end;
    std::int64_t base = 0;
    Untouched kept;
    if (!std::getline(in, kept_identity) || kept_identity != identity) return last;
    if (!(in >> base >> kept.entries[0] >> kept.entries[1] >> kept.target_folders >> end) || end != "end") return last;
    if (std::abs(base - last.clock_base_) < set_ns) last.untouched_ = kept;
    return last;
}

void LastCopy::keep() const {
    if (path_.empty()) return;
    const auto text = fmt::format("{}\n{} {} {} {} end\n", identity_, clock_base_, show(own_.entries[0]),
                                  show(own_.entries[1]), show(now_less(own_clock_ns)));
    static_cast<void>([&]() -> Result<> {
        auto& store = sys::posix_store();
        const auto folder = own_folder();
        FB_TRY_ASSIGN(has_home, store.exists(home_of_cache()));
        if (!has_home) return {};
        FB_TRY(store.make_directories(folder));
        FB_TRY_ASSIGN(kept, store.list(folder));
        if (kept.size() > kept_max)
            for (const auto& each : kept) static_cast<void>(store.remove(folder + "/" + each.name));
        // By a rename: a link that somebody has put there is replaced, and not followed.
        return sys::write_text_durable(store, path_, text);
    }());
}

}  // namespace forebay::tree

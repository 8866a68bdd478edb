#include "transfer/copy/last_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <thread>

#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"

namespace forebay::tree {

namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;
// The kernel's timestamps are up to 10 ms late. Servers have their own clocks; sites keep them in step.
constexpr std::int64_t tick_ns = 10'000'000, own_clock_ns = 50'000'000, other_clock_ns = 600 * ns_per_second;
// A change of the clock by less than this is not noticed.
constexpr std::int64_t set_ns = 10'000'000;
constexpr std::uint64_t kept_bytes_max = 4096;
constexpr std::size_t kept_max = 1000;  // pairs of places
constexpr const char* unfinished = ".new";

sys::FileTime time_of(std::int64_t ns) {
    return {.seconds = ns / ns_per_second, .nanoseconds = static_cast<std::uint32_t>(ns % ns_per_second)};
}

std::int64_t since_start() { return std::chrono::nanoseconds(sys::Clock::now().time_since_epoch()).count(); }

// The start of the monotonic clock in wall clock time, in nanoseconds. It is constant while nobody sets the clock: time
// synchronization adjusts both clocks alike. Takes the fastest of several readings.
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

// Empty if the user has no home.
std::string cache_place() {
    auto cache = variable("XDG_CACHE_HOME");
    if (cache.empty() && !variable("HOME").empty()) cache = variable("HOME") + "/.cache";
    while (cache.ends_with('/')) cache.pop_back();
    return cache;
}

bool is_own(const sys::EntryStatus& status) { return status.user == sys::new_entry_owner().user; }

// Root may have the HOME of another user, who could place links or files there. Only root's own entries are used, and
// new entries are only made in root's own directories. If `path` is given, symbolic links are followed: a user may keep
// the cache elsewhere.
Result<std::unique_ptr<sys::Folder>> open_own(sys::Folder& above, const std::string& name, const std::string& path,
                                              bool makes) {
    FB_TRY_ASSIGN(status_above, above.status());
    if (makes && is_own(status_above)) static_cast<void>(above.make_folder(name, 0700));  // it may exist already
    FB_TRY_ASSIGN(named, above.status_of(name));
    FB_TRY_ASSIGN(opened, path.empty() ? above.open_folder(name) : sys::open_posix_folder(path));
    FB_TRY_ASSIGN(status, opened->status());
    if (!is_own(named) || !is_own(status)) return Error{ErrorKind::refused, name + " belongs to another user"};
    return opened;
}

// The directory of all records. The parent of the cache is never made.
Result<std::unique_ptr<sys::Folder>> open_own_folder(bool makes) {
    const auto place = cache_place();
    const auto slash = place.rfind('/');
    if (slash == place.npos) return Error{ErrorKind::missing, "there is no home directory"};
    FB_TRY_ASSIGN(home, sys::open_posix_folder(place.substr(0, slash + 1)));
    FB_TRY_ASSIGN(cache, open_own(*home, place.substr(slash + 1), place, makes));
    FB_TRY_ASSIGN(ours, open_own(*cache, "forebay", "", makes));
    return open_own(*ours, "copies", "", makes);
}

Result<std::string> kept_text(const std::string& name) {
    FB_TRY_ASSIGN(folder, open_own_folder(false));
    FB_TRY_ASSIGN(file, folder->open_file(name));
    FB_TRY_ASSIGN(status, file->status());
    if (status.kind != sys::EntryKind::file || !is_own(status) || status.names != 1 || status.bytes > kept_bytes_max)
        return Error{ErrorKind::refused, name + " was not made by Forebay"};
    std::string text(status.bytes, '\0');
    FB_TRY_ASSIGN(bytes, file->read(0, std::as_writable_bytes(std::span(text))));
    text.resize(bytes);
    return text;
}

bool is_kept_name(std::string_view name) {
    constexpr std::size_t name_digits = 16;
    return (name.size() == name_digits || name.substr(std::min(name_digits, name.size())) == unfinished) &&
           name.find_first_not_of("0123456789abcdef") >= name_digits;
}

// If there are too many records, removes all of them and nothing else.
Result<> make_room(sys::Folder& folder) {
    std::vector<std::string> kept;
    FB_TRY(folder.list([&](std::span<const sys::NamedEntry> names) -> Result<> {
        for (const auto& entry : names)
            if (is_kept_name(entry.name)) kept.emplace_back(entry.name);
        return {};
    }));
    if (kept.size() <= kept_max) return {};
    for (const auto& name : kept) {
        FB_TRY_ASSIGN(status, folder.status_of(name));
        if (status.kind == sys::EntryKind::file && is_own(status)) FB_TRY(folder.remove(name));
    }
    return {};
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

// A record in the source would be missing at the target, and a record in the target would be extra. For a missing
// directory its nearest existing parent counts.
Result<bool> lies_in_any(std::string folder, std::initializer_list<sys::Folder*> trees) {
    while (true) {
        const auto opened = sys::open_posix_folder(folder);
        if (!opened && opened.error().kind == ErrorKind::missing && folder.size() > 1) {
            folder.erase(std::max<std::size_t>(folder.rfind('/'), 1));
            continue;
        }
        if (!opened) return false;  // no record will be kept there
        for (auto* tree : trees) {
            FB_TRY_ASSIGN(status, tree->status());
            FB_TRY_ASSIGN(lies_in, (*opened)->lies_in(status.id));
            if (lies_in) return true;
        }
        return false;
    }
}

std::int64_t margin_ns(const sys::FileSystemTraits& about) {
    return about.has_own_clock ? own_clock_ns : other_clock_ns;
}

}  // namespace

Result<Clocks> clocks_of(sys::Folder& source, sys::Folder& target) {
    FB_TRY_ASSIGN(of_source, source.file_system());
    FB_TRY_ASSIGN(of_target, target.file_system());
    const bool are_one = of_source.has_own_clock && of_target.has_own_clock;
    return Clocks{.margin_seconds = are_one ? 0 : other_clock_ns / ns_per_second,
                  .source_may_be_older = of_source.is_read_only};
}

bool is_before(sys::FileTime changed, sys::FileTime time) {
    if (changed.nanoseconds != 0) return changed < time;
    ++changed.seconds;
    return changed <= time;
}

Result<sys::FileTime> settled_time(sys::Folder& folder) {
    // A server's clock may differ, so the time lies far enough back.
    FB_TRY_ASSIGN(about, folder.file_system());
    const auto now = sys::unix_ns();
    if (!about.has_own_clock) return time_of(now - other_clock_ns);
    std::this_thread::sleep_for(std::chrono::nanoseconds(tick_ns));
    return time_of(now);
}

Result<LastCopy> LastCopy::find(sys::Folder& source, sys::Folder& target, const std::string& places) {
    LastCopy last;
    FB_TRY_ASSIGN(identity, identity_of(source, target));
    FB_TRY_ASSIGN(about_source, source.file_system());
    FB_TRY_ASSIGN(about_target, target.file_system());
    last.identity_ = identity;
    last.clock_base_ = clock_base();
    const auto begin_ns = sys::unix_ns();
    last.own_.entries[0] = time_of(begin_ns - margin_ns(about_source));
    last.own_.entries[1] = time_of(begin_ns - margin_ns(about_target));
    if (about_source.is_read_only) return last;
    const auto place = cache_place();
    if (place.empty()) return last;
    FB_TRY_ASSIGN(is_in_trees, lies_in_any(place + "/forebay/copies", {&source, &target}));
    if (is_in_trees) return last;
    last.name_ = fmt::format("{:016x}", siphash({}, std::as_bytes(std::span(places))));
    const auto text = kept_text(last.name_);
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

// Not synced: after a power cut the boot id differs, and the record is useless anyway.
void LastCopy::keep() const {
    if (name_.empty()) return;
    const auto text = fmt::format("{}\n{} {} {} {} end\n", identity_, clock_base_, show(own_.entries[0]),
                                  show(own_.entries[1]), show(time_of(sys::unix_ns() - own_clock_ns)));
    static_cast<void>([&]() -> Result<> {
        FB_TRY_ASSIGN(folder, open_own_folder(true));
        FB_TRY(make_room(*folder));
        static_cast<void>(folder->remove(name_ + unfinished));
        FB_TRY_ASSIGN(file, folder->make_file(name_ + unfinished, 0600));
        FB_TRY(file->write(0, std::as_bytes(std::span(text))));
        return folder->rename(name_ + unfinished, name_);
    }());
}

}  // namespace forebay::tree

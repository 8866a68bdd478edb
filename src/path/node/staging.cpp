// The staging directory, in the order of its life: lock it, let an earlier session's agent end, make the control page
// and enter the earlier session's sealed slots, join or watch it from other processes, remove it. The removal goes from
// staged files to session.json to the locks.

#include "path/node/staging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <new>
#include <set>
#include <thread>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/local_file.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/store.hpp"
#include "core/sys/wait_until.hpp"
#include "path/node/analysis_rules.hpp"
#include "path/node/compression_rules.hpp"
#include "path/node/watch.hpp"

namespace forebay::node {

namespace {

constexpr const char* control_name = "control";
constexpr sys::Pauses look_pauses{std::chrono::milliseconds(20)};

// "restart.0.h5" -> {"restart", 0}
bool split_slot_name(const std::string& name, std::string& stream, std::uint32_t& number) {
    if (name.size() < 6 || !name.ends_with(".h5") || name[name.size() - 5] != '.') return false;
    const char digit = name[name.size() - 4];
    if (digit != '0' && digit != '1') return false;
    stream = name.substr(0, name.size() - 5);
    number = static_cast<std::uint32_t>(digit - '0');
    return true;
}

bool await_end_of_agent(const std::string& directory, std::chrono::milliseconds wait_max) {
    return sys::wait_until(sys::Clock::now() + wait_max, look_pauses,
                           [&] { return !sys::lock_is_held(agent_lock_path(directory)); });
}

// Takes the lock of agents when the agent of an earlier session has ended. A session may have been killed just after
// it started an agent. Such an agent must not map the page that is replaced here: it would hold the lock of agents and
// never see a snapshot of the new session.
Result<sys::FileLock> lock_out_agents(const std::string& directory, std::chrono::milliseconds wait_max) {
    end_agent(directory);
    const auto deadline = sys::Clock::now() + wait_max;
    do {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - sys::Clock::now());
        if (!await_end_of_agent(directory, std::max(left, std::chrono::milliseconds(0)))) break;
        auto lock = sys::FileLock::take(agent_lock_path(directory));
        // Held again: an agent has started since. It sees the old page, so it must hear of its end.
        if (lock || lock.error().kind != ErrorKind::retry) return lock;
        end_agent(directory);
    } while (sys::Clock::now() < deadline);
    return Error{
        ErrorKind::retry,
        fmt::format("the agent of an earlier session still drains {} after {} s", directory, wait_max.count() / 1000),
        "its staged copies", fmt::format("look at {}/agent.log, then start again", directory)};
}

// Reads the earlier session's page: committed snapshots, and stations that must still process them. If such a snapshot
// is not at the target any more, it was removed there and must not come back. A stream keeps its analyses until this
// session sets others.
using Save = std::pair<std::string, std::uint64_t>;  // stream and id: ids are unique only in a stream
struct EarlierPage {
    std::map<Save, std::uint32_t> holds;
    std::map<std::string, decltype(StreamControl::insitu)> analyses;
};
EarlierPage page_before(const std::string& directory) {
    EarlierPage page;
    const auto old = Watch::open(directory);
    for (std::uint32_t i = 0; old && i < old->page().slot_count.load(); ++i) {
        const auto& slot = old->page().slots[i];
        const auto& stream = old->page().streams[slot.stream];
        page.analyses[stream.name.data()] = stream.insitu;
        if (slot.state.load() == SlotState::committed)
            page.holds[{stream.name.data(), slot.snapshot_id.load()}] = slot.holds.load();
    }
    return page;
}

// Spools come first: programs write to them until the last moment, so a spool goes only when it is empty. After a
// failure the remaining files must still be a staging directory, so session.json goes after all staged files. The locks
// go last, so nobody takes over a directory during its removal.
Result<> remove_all(const std::string& directory, Unpacked unpacked = Unpacked::stay) {
    const auto names = sys::names_in(directory);
    if (!names && names.error().kind == ErrorKind::missing) return {};
    FB_TRY(names);
    const auto in_the_way = [&](const std::string& path) {
        return Error{ErrorKind::retry,
                     fmt::format("{} is not removed: {} holds files that are not packed", directory, path),
                     "these files", fmt::format("forebay drain {}", directory)};
    };
    const std::vector<std::string> last{session_path(directory), agent_lock_path(directory),
                                        application_lock_path(directory)};
    std::vector<std::string> files;
    for (const auto& name : *names) {
        const auto path = directory + "/" + name;
        const auto seen = sys::look_at(path);
        if (seen && seen->kind == sys::LocalFile::Kind::directory) {
            if (unpacked == Unpacked::go) FB_TRY(sys::posix_store().remove_tree(path));
            FB_TRY_ASSIGN(gone, sys::remove_empty(path));
            if (!gone) return in_the_way(path);
        } else if (std::ranges::find(last, path) == last.end()) {
            files.push_back(path);
        }
    }
    files.insert(files.end(), last.begin(), last.end());
    for (const auto& file : files) FB_TRY(sys::posix_store().remove(file));
    FB_TRY_ASSIGN(gone, sys::remove_empty(directory));
    // The next session may have locked the directory again.
    return gone || sys::lock_is_held(application_lock_path(directory)) ? Result<>() : Result<>(in_the_way(directory));
}

}  // namespace

std::string session_path(const std::string& directory) { return directory + "/session.json"; }
std::string drained_as_path(const std::string& directory) { return directory + "/drained-as.json"; }
std::string application_lock_path(const std::string& directory) { return directory + "/application.lock"; }
std::string spool_path(const std::string& directory) { return directory + "/spool"; }
std::string agent_lock_path(const std::string& directory) { return directory + "/agent.lock"; }
std::string agent_log_path(const std::string& directory) { return directory + "/agent.log"; }

// Pages of all versions begin alike, so you can ask an agent of any version to leave.
static_assert(offsetof(Control, magic) == 0 && offsetof(Control, bell) == 12 && offsetof(Control, ending) == 20);

namespace {

void tell_agent_to_end(const std::string& directory, std::uint32_t how) {
    if (!sys::lock_is_held(agent_lock_path(directory))) return;
    auto mapping = sys::Mapping::open(directory + "/" + control_name, true);
    // Use only the first members: a page of another version may be shorter.
    if (!mapping || mapping->bytes().size() < offsetof(Control, draining)) return;
    auto& page = *reinterpret_cast<Control*>(mapping->bytes().data());
    if (page.magic.load(std::memory_order_acquire) != control_magic) return;
    page.ending.store(how);
    ring(page.bell);
}

}  // namespace

void end_agent(const std::string& directory) { tell_agent_to_end(directory, 1); }

void end_agent_after_drains(const std::string& directory) { tell_agent_to_end(directory, ending_after_drains); }

void dismiss_lingering(const std::string& directory) {
    auto page = Staging::join(directory);
    if (!page || page->control().lingering.load() == 0) return;
    page->control().ending = 1;
    ring(page->control().bell);
    await_end_of_agent(directory, ending_holder_max);
}

Result<> remove_leftover(const std::string& directory, Unpacked unpacked, std::chrono::milliseconds agent_max,
                         const Say& say) {
    FB_TRY_ASSIGN(is_there, sys::posix_store().exists(directory));
    if (!is_there) return {};
    // A lingering agent takes the application's lock to free the directory, so it must end before this call takes it.
    dismiss_lingering(directory);
    const auto application = LockedDirectory::lock(directory, "", say);
    FB_TRY(application);
    // An agent checks only from time to time if its session lives, so it may not know of the death yet.
    end_agent(directory);
    LongWait wait(say, agent_max);
    const auto deadline = sys::Clock::now() + agent_max;
    const bool has_ended = sys::wait_until(deadline, look_pauses, [&] {
        if (!sys::lock_is_held(agent_lock_path(directory))) return true;
        wait.turn([&] { return fmt::format("the agent of a dead session, which drains {}", directory); });
        return false;
    });
    if (has_ended) return remove_all(directory, unpacked);
    return Error{ErrorKind::refused,
                 fmt::format("{} is in use: after {} s the agent of a dead session still drains it", directory,
                             std::chrono::duration<double>(agent_max).count()),
                 "the copies that are staged there",
                 fmt::format("wait for its end, see {}", agent_log_path(directory))};
}

Error not_usable(const std::string& directory, const Error& error) {
    if (error.kind != ErrorKind::refused || !error.next.empty()) return error;
    return with_context(
        error,
        fmt::format("the staged copies in {} cannot be read, and may be newer than all committed snapshots: {}",
                    directory, error.what),
        "all committed snapshots and staged copies. Nothing is removed",
        fmt::format("run chmod -R u+rwX {} to get access, then start again", directory));
}

std::vector<std::string> emptied_files(const std::string& directory) {
    std::vector<std::string> directories;
    const auto entries = sys::posix_store().list(directory);
    StagedFile staged;
    for (const auto& entry : entries ? *entries : std::vector<sys::Entry>())
        if (!entry.is_directory && entry.size < format::record_offset_bytes + format::record_size_bytes &&
            split_slot_name(entry.name, staged.stream, staged.number))
            directories.push_back(directory + "/" + entry.name);
    return directories;
}

Result<std::vector<StagedFile>> staged_files(const std::string& directory) {
    auto& store = sys::posix_store();
    const auto entries = store.list(directory);
    if (!entries) return not_usable(directory, entries.error());
    std::vector<StagedFile> files;
    for (const auto& entry : *entries) {
        StagedFile staged{.path = directory + "/" + entry.name};
        if (entry.is_directory || !split_slot_name(entry.name, staged.stream, staged.number)) continue;
        if (entry.size < format::record_offset_bytes + format::record_size_bytes) continue;
        const auto file = store.open(staged.path, sys::Access::read);
        if (!file) return not_usable(directory, file.error());
        std::vector<std::byte> pages(format::record_offset_bytes + format::record_size_bytes);
        FB_TRY((*file)->read(0, pages));
        // A slot that was being filled at the session's death has no valid record: it is no snapshot.
        auto peek = format::peek(pages, staged.path);
        if (!peek || peek->file_bytes > entry.size) continue;
        staged.peek = *peek;
        files.push_back(std::move(staged));
    }
    return files;
}

Result<Staging> Staging::create(LockedDirectory locked, const SessionFile& session,
                                std::chrono::milliseconds wait_max) {
    FB_TRY_ASSIGN(session_text, encode_session(session));
    const auto directory = locked.path();
    // The old agent still writes to its page and reads its slots, so it must end before the page is replaced.
    FB_TRY_ASSIGN(no_agents, lock_out_agents(directory, wait_max));
    const auto earlier = page_before(directory);

    Staging staging;
    staging.directory_ = directory;
    staging.lock_ = std::move(locked.lock_);
    auto& store = sys::posix_store();
    FB_TRY(sys::write_text_durable(store, session_path(directory), session_text));
    FB_TRY(store.remove(drained_as_path(directory)));  // left by a killed drain
    FB_TRY(store.remove(directory + "/" + control_name));
    FB_TRY_ASSIGN(mapping,
                  sys::Mapping::create(directory + "/" + control_name, round_up(sizeof(Control), limits::page_bytes)));
    staging.mapping_ = std::move(mapping);
    new (staging.mapping_.bytes().data()) Control();

    FB_TRY_ASSIGN(left, staged_files(directory));
    for (const auto& file : left) {
        FB_TRY_ASSIGN(stream, staging.add_stream(file.stream,
                                                 StreamOptions{.slots = static_cast<int>(file.number) + 1, .keep = 0}));
        if (const auto analyses = earlier.analyses.find(file.stream); analyses != earlier.analyses.end())
            staging.control().streams[stream].insitu = analyses->second;
        for (const auto index : staging.slots_of(stream)) {
            auto& slot = staging.control().slots[index];
            if (slot.number != file.number) continue;
            slot.step = file.peek.record.step;
            slot.snapshot_id = file.peek.record.snapshot_id;
            slot.sealed_unix_ns = file.peek.record.sealed_unix_ns;
            slot.file_bytes = file.peek.file_bytes;
            slot.inherited = 1;
            const auto held = earlier.holds.find({file.stream, file.peek.record.snapshot_id});
            slot.holds = held == earlier.holds.end() ? 0 : held->second;
            slot.state = held == earlier.holds.end() ? SlotState::sealed : SlotState::committed;
        }
    }
    // The magic number comes last: a reader that sees it finds a complete page.
    staging.control().magic.store(control_magic, std::memory_order_release);
    no_agents.release();
    return staging;
}

Result<Staging> Staging::join(const std::string& directory) { return map(directory, true); }

Result<Watch> Watch::open(const std::string& directory) {
    FB_TRY_ASSIGN(staging, Staging::map(directory, false));
    return Watch(std::move(staging));
}

bool may_hold_uncommitted(const std::string& directory) {
    const auto watch = Watch::open(directory);
    if (!watch) return true;
    const auto& page = watch->page();
    return std::any_of(page.slots.begin(), page.slots.begin() + page.slot_count.load(), [](const SlotControl& slot) {
        const auto state = slot.state.load();
        return state != SlotState::empty && state != SlotState::committed;
    });
}

Result<Staging> Staging::map(const std::string& directory, bool writable) {
    Staging staging;
    staging.directory_ = directory;
    const auto path = directory + "/" + control_name;
    FB_TRY_ASSIGN(mapping, sys::Mapping::open(path, writable));
    staging.mapping_ = std::move(mapping);
    if (const auto bytes = std::as_const(staging.mapping_).bytes().size(); bytes < sizeof(Control))
        return Error{ErrorKind::corrupt,
                     fmt::format("the control page {} has {} bytes, but {} are expected", path, bytes, sizeof(Control)),
                     "the staged files beside it", fmt::format("forebay drain {}", directory)};
    FB_TRY(check(std::as_const(staging).control(), path));
    return staging;
}

Result<std::uint32_t> Staging::add_stream(const std::string& name, const StreamOptions& options) {
    auto& page = control();
    const auto count = page.stream_count.load();
    std::uint32_t index = 0;
    while (index < count && name != page.streams[index].name.data()) ++index;
    if (index == streams_max)  // a stream has at most two slots, so there is room for them
        return Error{
            ErrorKind::full,
            fmt::format("stream '{}' is one stream too many: a session has at most {} streams.", name, streams_max)};
    FB_TRY(check(options.insitu, name));
    auto& stream = page.streams[index];
    set_text(stream.name, name);
    stream.keep = options.keep;
    stream.keep_abandoned = options.keep_abandoned;
    stream.view = 0;
    for (const auto convention : options.conventions)
        if (options.view) stream.view |= 1u << static_cast<unsigned>(convention);
    set_text(stream.compression, encode_rules(rules_of(options)));
    set_text(stream.insitu, encode_analyses(options.insitu));
    stream.priority = options.priority;
    stream.deadline_ns = std::chrono::nanoseconds(options.deadline).count();
    stream.rate_bytes_per_second = options.rate_bytes_per_second;
    // The agent reads an entry as soon as the count covers it, so the count comes after the content.
    if (index == count) page.stream_count.store(count + 1, std::memory_order_release);
    for (std::uint32_t number = 0; number < static_cast<std::uint32_t>(options.slots); ++number) {
        const auto there = slots_of(index);
        // An inherited slot may have this number already.
        if (std::ranges::any_of(there, [&](auto i) { return page.slots[i].number == number; })) continue;
        const auto slots = page.slot_count.load();
        page.slots[slots].stream = index;
        page.slots[slots].number = number;
        page.slot_count.store(slots + 1, std::memory_order_release);
    }
    return index;
}

std::vector<std::uint32_t> Staging::slots_of(std::uint32_t stream) const {
    std::vector<std::uint32_t> indices;
    for (std::uint32_t i = 0; i < control().slot_count.load(std::memory_order_acquire); ++i)
        if (control().slots[i].stream == stream) indices.push_back(i);
    return indices;
}

std::set<std::uint64_t> Staging::committed_snapshots(const std::string& stream) const {
    std::set<std::uint64_t> ids;
    const auto& page = control();
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i)
        if (page.slots[i].state.load(std::memory_order_acquire) == SlotState::committed &&
            page.streams[page.slots[i].stream].name.data() == stream)
            ids.insert(page.slots[i].snapshot_id.load());
    return ids;
}

std::string Staging::slot_path(std::uint32_t slot) const {
    return directory_ + "/" + slot_file_name(control(), control().slots[slot]);
}
bool Staging::application_lives() const { return sys::lock_is_held(application_lock_path(directory_)); }
bool Staging::agent_lives() const { return sys::lock_is_held(agent_lock_path(directory_)); }

Result<> Staging::remove() {
    // The lock goes last, so that no session takes the directory during the removal.
    mapping_ = {};
    FB_TRY(remove_all(directory_));
    lock_.release();
    return {};
}

}  // namespace forebay::node

#include "transfer/team/team_worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/move/pace.hpp"
#include "core/sys/far_module.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/tree_place.hpp"
#include "transfer/team/team_words.hpp"

namespace forebay::tree {

namespace {

// Progress bars of the coordinator show the counts sent at this pace.
constexpr std::chrono::milliseconds tell_pause{300};
// The coordinator waits for all workers before it sends orders.
constexpr std::chrono::seconds order_wait_max{60};
// A worker without a coordinator ends its work within this time. A thread that hangs in a dead mount is left behind.
constexpr std::chrono::seconds alone_max{5};

// Time of this process's last message that reached the coordinator.
std::chrono::nanoseconds told_at(const TeamMessage& beat) {
    return std::chrono::nanoseconds(beat.numbers.empty() ? 0 : beat.numbers.front());
}

Result<TeamMessage> wait_for(TeamPort& port, TeamKind kind) {
    const auto end = sys::Clock::now() + order_wait_max;
    while (sys::Clock::now() < end) {
        auto heard = port.hear(end);
        if (!heard) continue;
        FB_TRY(heard->message);
        if (heard->message->kind == kind) return std::move(*heard->message);
        if (heard->message->kind == TeamKind::end) break;
    }
    return Error{ErrorKind::retry, "the first process of this command sends no order"};
}

Result<> serve(TeamPort& port, TeamOrder& order, std::uint32_t threads) {
    if (order.threads == 0) order.threads = threads;
    const auto owner = sys::new_entry_owner();
    if (owner.user != order.user)
        return Error{ErrorKind::refused,
                     fmt::format("user {} works there, and user {} works here", owner.user, order.user), "",
                     "use the same user there: --ssh 'ssh -l NAME'. Or leave that host out"};
    // Entries without a set owner get the group of the process that makes them.
    if (order.verb == TeamVerb::copy && !order.options.preserve.owner && owner.group != order.group)
        return Error{ErrorKind::refused,
                     fmt::format("group {} works there, and group {} works here", owner.group, order.group), "",
                     "use the same group on all hosts, or leave owners out of --preserve"};
    sys::set_umask(static_cast<std::uint32_t>(order.umask));
    sys::take_settings(order.settings);
    switch (order.verb) {
        case TeamVerb::walk: return walk_for_team(port, order);
        case TeamVerb::copy: return copy_for_team(port, order);
        case TeamVerb::compare: return compare_for_team(port, order);
        case TeamVerb::remove: return remove_for_team(port, order);
    }
    return {};
}

}  // namespace

Result<> serve_team(std::unique_ptr<TeamPort> port, const std::string& version, std::uint32_t threads) {
    port->send(0, {.kind = TeamKind::hello, .path = sys::host_name(), .text = version});
    const auto served = [&]() -> Result<> {
        FB_TRY_ASSIGN(message, wait_for(*port, TeamKind::order));
        FB_TRY_ASSIGN(order, order_from(message));
        return serve(*port, order, threads);
    }();
    if (served) return served;
    // No work has begun here. The coordinator ends the command, or has ended it.
    port->send(0, {.kind = TeamKind::refused, .path = served.error().next, .text = served.error().what});
    port->send(0, {.kind = TeamKind::bye});
    while (port->has_unsent())
        if (const auto heard = port->hear(sys::Clock::now() + tell_pause); heard && !heard->message) break;
    return served;
}

Result<WishedRef> ask_for_list(TeamPort& port, std::size_t memory_bytes) {
    auto list = std::make_shared<PathList>(memory_bytes);
    for (std::uint64_t block = 0;;) {
        port.send(0, {.kind = TeamKind::list_ask, .number = block});
        FB_TRY_ASSIGN(blocks, wait_for(port, TeamKind::list));
        for (const auto& text : blocks.texts) FB_TRY(list->append_block(text));
        block += blocks.texts.size();
        if (blocks.texts.empty()) break;
    }
    FB_TRY(list->close());
    return list;
}

TeamMembership::TeamMembership(TeamPort& port, const TeamOrder& order, TeamLease& lease)
    : port_(port),
      lease_(lease),
      timeout_(order.timeout_seconds),
      team_(order.process, [&port](const TeamMessage& message) { port.send(0, message); }) {}

Result<> TeamMembership::start(TeamWork work) {
    team_.start(std::move(work));
    lease_.renew(sys::time_since_boot());
    port_.send(0, {.kind = TeamKind::ready});
    FB_TRY_ASSIGN(thread, sys::Thread::start([this] { hear(); }));
    hearing_ = std::move(thread);
    return {};
}

void TeamMembership::hear() {
    auto last_heard = sys::Clock::now(), last_look = last_heard, next_tell = last_heard;
    while (!is_leaving_ || port_.has_unsent()) {
        const auto heard = port_.hear(next_tell);
        const auto now = sys::Clock::now();
        // If this process was stopped, the coordinator may have been too: it gets a new timeout.
        if (heard || now - last_look > sys::Clock::duration(timeout_) / 2) last_heard = now;
        last_look = now;
        const bool is_silent = !heard && timeout_.count() > 0 && now - last_heard > timeout_;
        if (is_silent || (heard && !heard->message)) return end_alone();
        if (heard && heard->message->kind == TeamKind::beat) lease_.renew(told_at(*heard->message));
        if (heard) team_.hear(*heard->message);
        if (now < next_tell || is_leaving_) continue;
        next_tell = now + tell_pause;
        team_.say_counts(TeamKind::counts);
    }
}

void TeamMembership::end_alone() {
    is_alone_ = true;
    if (!is_leaving_) team_.over(true);  // before the lease ends: work that fails by it is not reported as done
    lease_.end();
    if (is_leaving_) return;
    const auto end = sys::Clock::now() + alone_max;
    while (!is_leaving_ && sys::Clock::now() < end) move::sleep_until(sys::Clock::now() + tell_pause, nullptr);
    // A thread may hang in a dead mount for ever, so the process does not wait for it.
    if (!is_leaving_ && !port_.first_ends_all()) std::_Exit(EXIT_FAILURE);
}

Result<> TeamMembership::leave(const Result<>& done) {
    if (!done) team_.say(message_of(done.error()));
    team_.say_counts(TeamKind::bye);
    is_leaving_ = true;
    port_.wake();
    hearing_.join();
    return is_alone_ ? Result<>(Error{ErrorKind::broken, "the first process of this command has ended"}) : Result<>();
}

namespace {

// An automount happens when its directory is listed.
void touch(sys::Folder& top, std::string_view path) {
    FolderRef folder;
    while (!path.empty()) {
        const auto name = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), name.size() + 1));
        auto opened = (folder ? *folder : top).open_folder(std::string(name));
        if (!opened) return;
        folder = std::move(*opened);
    }
    if (folder) static_cast<void>(folder->list([](std::span<const sys::NamedEntry>) { return Result<>(); }));
}

}  // namespace

Result<> check_team_mounts(sys::Folder& folder, const TeamRoot& root, const std::string& path) {
    const auto wanted = mounts_from(root.mounts);
    for (const auto& mount : wanted) touch(folder, mount.path);
    FB_TRY_ASSIGN(mounts, folder.mounts_below());
    const auto own = mounts_from(mounts_text(mounts));
    if (own == wanted) return {};
    const auto [at, other] = std::ranges::mismatch(wanted, own);
    return Error{ErrorKind::refused,
                 fmt::format("that host has another mount below {} than the first process, or no mount: {}",
                             show_text(path), show_text(at != wanted.end() ? at->path : other->path)),
                 "", "mount the same file systems on all hosts, or leave this host out"};
}

Result<> check_team_root(sys::Folder& folder, const TeamRoot& root, const std::string& path) {
    FB_TRY_ASSIGN(own, team_root(folder, path));
    if (own.number == root.number && own.modified == root.modified) return check_team_mounts(folder, root, path);
    if (sys::is_far(path))
        return Error{ErrorKind::refused,
                     fmt::format("{} is another place on that host than for the first process", show_text(path)), "",
                     "use the same server on all hosts: endpoint and region of S3, the agent of DAOS"};
    return Error{
        ErrorKind::refused,
        fmt::format("{} is another directory there: inode {}, and the first process has {}{}", show_text(path),
                    own.number, root.number, own.number == root.number ? ", with another time of modification" : "")};
}

}  // namespace forebay::tree

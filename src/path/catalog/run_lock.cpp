// A run lock is a directory RUN/forebay/sessions/NUMBER. Claiming::claim() makes it. First it checks that the owner of
// the newest lock is dead (see_it_dead: by `ended`, by the file lock on the same machine, or by watching `alive`). Then
// it takes the next number: it makes its own directory and renames it (take).
//
// Several sessions may try to take one number at once. A rename onto a directory that is not empty fails, so one
// session gets the number and the others look again. After the rename the session looks once more: if it was slow,
// others may have taken this number, passed it and removed it meanwhile.

#include "path/catalog/run_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <thread>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/format/json_read.hpp"
#include "core/format/json_text.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/savers.hpp"
#include "path/node/holder_wait.hpp"

namespace forebay::catalog {

namespace {

constexpr std::uint64_t file_bytes_max = 64u << 10;
constexpr std::chrono::milliseconds look_pause{250};
// How often others may take the number first. Each of them is a session that opens at this very moment.
constexpr int attempts_max = 64;

std::string sessions_of(const std::string& run) { return fmt::format("{}/{}/sessions", run, own_directory); }

std::optional<std::uint32_t> session_of(std::string_view name) {
    std::uint32_t session = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), session);
    if (error != std::errc{} || end != name.data() + name.size() || session == 0) return {};
    return fmt::format("{:06}", session) == name ? std::optional(session) : std::nullopt;
}

Result<std::vector<std::uint32_t>> sessions_in(sys::Store& store, const std::string& run) {
    std::vector<std::uint32_t> sessions;
    const auto entries = store.list(sessions_of(run));
    if (!entries && entries.error().kind == ErrorKind::missing) return sessions;
    if (!entries) return entries.error();
    for (const auto& entry : *entries)
        if (const auto session = session_of(entry.name); session && entry.is_directory) sessions.push_back(*session);
    std::ranges::sort(sessions);
    return sessions;
}

struct RunLockHolder {
    RunLockOwner lock_owner;
    std::string key;  // distinguishes our lock from another session's lock with the same number
};

std::string encode(const RunLockOwner& lock_owner, const std::string& key) {
    std::string text = R"({"forebay":"claim","version":1)";
    const auto put = [&](const char* name, const std::string& value) {
        text += fmt::format(",\"{}\":", name);
        format::json::put_text(text, value);
    };
    put("host", lock_owner.host);
    put("user", lock_owner.user);
    put("boot", lock_owner.boot);
    put("lock", lock_owner.lock_path);
    put("lock_id", lock_owner.lock_id);
    put("key", key);
    if (lock_owner.is_copy) text += ",\"copy\":1";
    return text + fmt::format(",\"process\":{},\"claimed_unix_ns\":{}}}\n", lock_owner.process, sys::unix_ns());
}

// Empty if it is damaged. Then the owner is unknown and is watched.
std::optional<RunLockHolder> decode(const std::string& text) {
    const auto document = format::json::Document::parse(text);
    if (!document || document->root().member("forebay").text() != "claim") return {};
    const auto root = document->root();
    const auto word = [&](const char* name) { return root.member(name).text().value_or(""); };
    return RunLockHolder{.lock_owner = {.host = word("host"),
                                        .user = word("user"),
                                        .boot = word("boot"),
                                        .lock_path = word("lock"),
                                        .lock_id = word("lock_id"),
                                        .process = root.member("process").i64().value_or(0),
                                        .is_copy = root.member("copy").exists()},
                         .key = word("key")};
}

Result<std::optional<RunLockHolder>> load(sys::Store& store, const std::string& run, std::uint32_t session) {
    const auto text = sys::read_text(store, run_lock_directory(run, session) + "/claim.json", file_bytes_max);
    if (text) return decode(*text);
    if (text.error().kind == ErrorKind::retry) return text.error();
    return std::optional<RunLockHolder>{};
}

std::string holder_name(std::uint32_t session, const std::optional<RunLockHolder>& holder) {
    if (!holder) return fmt::format("session {}", session);
    const auto& lock_owner = holder->lock_owner;
    const auto what = lock_owner.is_copy ? std::string("a copy by") : fmt::format("session {} of", session);
    return fmt::format("{} {} on {} (process {})", what, lock_owner.user, lock_owner.host, lock_owner.process);
}

/// Takes one run lock.
class Claiming {
public:
    Claiming(sys::Store& store, const std::string& run, const RunLockOwner& lock_owner, const RunLockOptions& options)
        : store_(store), run_(run), lock_owner_(lock_owner), options_(options), key_(sys::random_u64()) {}

    Result<std::uint32_t> claim() {
        FB_TRY(sys::make_directories_below(store_, run_, sessions_of(run_)));
        std::optional<std::uint32_t> saver;
        for (int attempt = 0; attempt < attempts_max; ++attempt) {
            FB_TRY_ASSIGN(before, sessions_in(store_, run_));
            if (!before.empty()) FB_TRY(see_it_dead(before.back()));
            // A number that comes twice or too late would order the snapshots wrongly. A copy may have brought
            // snapshots without locks, so look at the newest snapshots. If somebody removed all locks, look at every
            // snapshot.
            if (!saver) {
                FB_TRY_ASSIGN(last, before.empty() ? last_saver_of_all(store_, run_) : last_saver(store_, run_));
                saver = std::max(last, options_.above);
            }
            const auto session = std::max(*saver, before.empty() ? 0 : before.back()) + 1;
            FB_TRY_ASSIGN(taken, take(session));
            if (!taken) continue;
            // Only the newest lock counts. If a removal fails now, the next session repeats it.
            for (const auto old : lock_owner_.is_copy ? std::vector<std::uint32_t>() : before)
                static_cast<void>(store_.remove_tree(run_lock_directory(run_, old)));
            return session;
        }
        return Error{ErrorKind::retry,
                     fmt::format("{} sessions locked {} before this session could", attempts_max, run_)};
    }

    Result<> see_all_dead() {
        FB_TRY_ASSIGN(sessions, sessions_in(store_, run_));
        return sessions.empty() ? Result<>() : see_it_dead(sessions.back());
    }

private:
    Result<bool> take(std::uint32_t session);
    Result<> see_it_dead(std::uint32_t session);
    Result<> watch(std::uint32_t session, const std::optional<RunLockHolder>& holder);
    Error refusal(std::uint32_t session, const std::optional<RunLockHolder>& holder, const std::string& how) const;

    sys::Store& store_;
    const std::string& run_;
    const RunLockOwner& lock_owner_;
    const RunLockOptions& options_;
    const std::uint64_t key_;
};

// A rename does not replace another session's directory: if two sessions try one number at once, one gets it.
Result<bool> Claiming::take(std::uint32_t session) {
    const auto new_run_lock = sessions_of(run_) + "/" + name_of_new(key_);
    FB_TRY(store_.make_directory(new_run_lock));
    FB_TRY(sys::write_text_durable(store_, new_run_lock + "/claim.json", encode(lock_owner_, id_text(key_))));
    const auto renamed = store_.rename(new_run_lock, run_lock_directory(run_, session));
    if (!renamed) {
        // The rename may have happened although the server answered too late.
        FB_TRY_ASSIGN(there, load(store_, run_, session));
        if (!there || there->key != id_text(key_)) {
            FB_TRY(store_.remove_tree(new_run_lock));
            const auto kind = renamed.error().kind;
            if (kind == ErrorKind::refused || kind == ErrorKind::missing) return false;
            return renamed.error();
        }
    }
    FB_TRY(store_.sync_directory(sessions_of(run_)));
    // The first lock, or a killed one, made the directory of all locks. If it is lost, numbers begin again.
    FB_TRY(store_.sync_directory(run_ + "/" + own_directory));
    // Meanwhile others may have taken this number and later numbers, and removed it.
    FB_TRY_ASSIGN(now, sessions_in(store_, run_));
    if (now.empty() || now.back() <= session) return true;
    FB_TRY(store_.remove_tree(run_lock_directory(run_, session)));
    return false;
}

Error Claiming::refusal(std::uint32_t session, const std::optional<RunLockHolder>& holder,
                        const std::string& how) const {
    return {ErrorKind::refused, fmt::format("{} writes run {} ({})", holder_name(session, holder), run_, how),
            "all of its snapshots", "end that session, or choose another run directory"};
}

Result<> Claiming::see_it_dead(std::uint32_t session) {
    FB_TRY_ASSIGN(ended, store_.exists(run_lock_directory(run_, session) + "/ended"));
    if (ended) return {};
    FB_TRY_ASSIGN(holder, load(store_, run_, session));
    // The lock was copied here with the run, so its owner lives in the other run.
    if (holder && !holder->key.empty() && holder->key == options_.copied_key) return {};
    if (holder && !holder->lock_owner.boot.empty() && holder->lock_owner.boot == lock_owner_.boot &&
        holder->lock_owner.lock_id == sys::file_id(holder->lock_owner.lock_path)) {
        // If the dead session staged on this node, this session holds its file lock now.
        const bool is_ours = holder->lock_owner.lock_id == lock_owner_.lock_id;
        // A process killed a moment ago may still be ending.
        const auto& lock = holder->lock_owner.lock_path;
        if (is_ours) return {};
        FB_TRY_ASSIGN(is_free, node::await_free(lock, holder->lock_owner.process, options_.say));
        if (is_free) return {};
        return refusal(session, holder, lock + " is locked");
    }
    return watch(session, holder);
}

Result<> Claiming::watch(std::uint32_t session, const std::optional<RunLockHolder>& holder) {
    // The user says that two jobs never write one run (takeover_wait_seconds = 0).
    if (options_.watch.count() == 0) return {};
    const double seconds = std::chrono::duration<double>(options_.watch).count();
    if (options_.say)
        options_.say(fmt::format(
            "{} holds the lock of run {} and has not ended it. Forebay watches it for {} s for signs of life",
            holder_name(session, holder), run_, seconds));
    const auto look = [&] {
        return sys::read_text(store_, run_lock_directory(run_, session) + "/alive", file_bytes_max);
    };
    const auto before = look();
    const auto deadline = sys::Clock::now() + options_.watch;
    while (sys::Clock::now() < deadline) {
        std::this_thread::sleep_for(look_pause);
        if (options_.say.interrupted && options_.say.interrupted())
            return node::interrupted(fmt::format("the watch over {}", holder_name(session, holder)));
        FB_TRY_ASSIGN(ended, store_.exists(run_lock_directory(run_, session) + "/ended"));
        if (ended) return {};
        const auto now = look();
        // A failed read proves neither life nor death.
        if (now && (!before || *now != *before)) return refusal(session, holder, "it has just shown a sign of life");
    }
    if (options_.say)
        options_.say(
            fmt::format("{} shows no sign of life: its run {} is taken over", holder_name(session, holder), run_));
    return {};
}

}  // namespace

std::string run_lock_directory(const std::string& run, std::uint32_t session) {
    return fmt::format("{}/{:06}", sessions_of(run), session);
}

Result<std::uint32_t> claim(sys::Store& store, const std::string& run, const RunLockOwner& lock_owner,
                            const RunLockOptions& options) {
    return Claiming(store, run, lock_owner, options).claim();
}

Result<> check_unlocked(sys::Store& store, const std::string& run, const RunLockOwner& asking,
                        const RunLockOptions& options) {
    return Claiming(store, run, asking, options).see_all_dead();
}

Result<std::optional<LastSession>> last_session(sys::Store& store, const std::string& run) {
    FB_TRY_ASSIGN(sessions, sessions_in(store, run));
    std::ranges::sort(sessions, std::ranges::greater{});
    for (const auto session : sessions) {
        FB_TRY_ASSIGN(holder, load(store, run, session));
        if (holder && holder->lock_owner.is_copy) continue;
        return std::optional(LastSession{session, holder ? holder->key : "", holder_name(session, holder)});
    }
    return std::optional<LastSession>{};
}

Result<std::uint64_t> run_lock_key(sys::Store& store, const std::string& run) {
    FB_TRY_ASSIGN(last, last_session(store, run));
    std::uint64_t key = 0;
    if (last) std::from_chars(last->key.data(), last->key.data() + last->key.size(), key, 16);
    return key;
}

Result<> renew_run_lock(sys::Store& store, const std::string& run, std::uint32_t session, std::uint64_t count) {
    // In place and without a sync: a reader of half a number still sees a change, and a power cut ends the session
    // anyway. The directory is not made again: after a takeover it is gone, and the open fails.
    FB_TRY_ASSIGN(file, store.open(run_lock_directory(run, session) + "/alive", sys::Access::create));
    FB_TRY(file->write(0, bytes_of(fmt::format("{}\n", count))));
    return file->close();
}

Result<> end_run_lock(sys::Store& store, const std::string& run, std::uint32_t session) {
    FB_TRY_ASSIGN(file, store.open(run_lock_directory(run, session) + "/ended", sys::Access::create));
    return file->close();
}

Result<> withdraw_run_lock(sys::Store& store, const std::string& run, std::uint32_t session, std::uint32_t above) {
    // First `ended`: a session that watches this lock stops waiting at once.
    FB_TRY(end_run_lock(store, run, session));
    FB_TRY_ASSIGN(before, sessions_in(store, run));
    std::erase_if(before, [session](std::uint32_t other) { return other >= session; });
    // Without any lock the next session looks at each snapshot, so this lock can go.
    if (before.empty() || before.back() >= above) return store.remove_tree(run_lock_directory(run, session));
    for (const auto old : before) {
        FB_TRY_ASSIGN(holder, load(store, run, old));
        if (holder && holder->lock_owner.is_copy) FB_TRY(store.remove_tree(run_lock_directory(run, old)));
    }
    return {};
}

Result<std::optional<std::string>> claimed_after(sys::Store& store, const std::string& run, std::uint32_t session) {
    FB_TRY_ASSIGN(all, sessions_in(store, run));
    if (session == 0 || all.empty() || all.back() <= session) return std::optional<std::string>{};
    FB_TRY_ASSIGN(holder, load(store, run, all.back()));
    return std::optional(holder_name(all.back(), holder));
}

}  // namespace forebay::catalog

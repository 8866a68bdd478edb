// Acts of sessions, people and tools on an existing run: claim, remove, mark and recover.

#include <fmt/format.h>

#include <algorithm>

#include "crash/world.hpp"
#include "path/catalog/marks.hpp"
#include "path/catalog/run_lock.hpp"
#include "path/commit/commit.hpp"
#include "support/passing_store.hpp"

namespace forebay::crash {

Result<std::uint32_t> World::claim_in(sys::Store& store) {
    // Without a machine identity the library watches no locks and counts earlier sessions as dead.
    return catalog::claim(
        store, run, {.host = "nid00412", .user = "me", .boot = {}, .lock_path = {}, .lock_id = {}, .process = 1}, {});
}

std::optional<std::uint32_t> World::claim() {
    if (cut()) return {};
    const auto before = ledger_.sessions;
    const auto number = claim_in(store());
    if (!number) return fault(number.error()), std::nullopt;
    ledger_.note_session(*number, before);
    return *number;
}

void World::claim_around(int at) {
    if (cut()) return;
    const auto before = ledger_.sessions;
    std::optional<std::uint32_t> other;
    test::InterruptedStore slow(store(), at, [&] { other = claim(); });
    const auto number = claim_in(slow);
    if (!number) fault(number.error());
    else ledger_.note_session(*number, before);
    if (other) end_run_lock(*other);
}

void World::end_run_lock(std::uint32_t session) {
    if (cut()) return;
    // The directory is missing if a later session has claimed the run.
    const auto ended = catalog::end_run_lock(store(), run, session);
    if (!ended && ended.error().kind != ErrorKind::missing) fault(ended.error());
}

std::set<std::uint64_t> World::ids_on(sys::Store& disk) const {
    std::set<std::uint64_t> ids;
    const auto all = catalog::heads_of(disk, run, stream);
    if (!all) return ids;
    for (const auto& version : *all)
        if (version.readable) ids.insert(version.head.snapshot_id);
    return ids;
}

bool World::remove(const std::function<Result<catalog::Pruned>(sys::Store&)>& act) {
    const auto copy = disk_->clone();
    const auto before = ids_on(*copy);
    // Either no snapshot has arrived, or a later line goes on from this line.
    if (!act(*copy)) return false;
    const auto gone_from = [&](sys::Store& disk) {
        auto ids = before;
        for (const auto id : ids_on(disk)) ids.erase(id);
        return ids;
    };
    ledger_.may_vanish.merge(gone_from(*copy));
    if (const auto removed = act(store()); !removed) return fault(removed.error()), false;
    // A read that failed by a fault did not count. Its snapshot stays.
    for (const auto id : gone_from(*disk_->clone())) ledger_.note_removed(id);
    return true;
}

void World::mark(const test::SmallSnapshot& snapshot) {
    if (cut()) return;
    ledger_.begun_marks.insert(snapshot.id);
    const std::vector<format::Mark> marks{{"numbers", "*/nan > 0", "u/nan", 3}};
    const auto marked = catalog::mark(store(), {run, stream, snapshot.step, snapshot.id}, marks);
    if (marked) ledger_.marks.insert(snapshot.id);
    else if (marked.error().kind != ErrorKind::missing) fault(marked.error());
}

Result<catalog::Pruned> World::pruned(sys::Store& store, const catalog::Retention& what) const {
    return programs_.prune ? programs_.prune(store, what) : catalog::prune(store, run, stream, what);
}

void World::prune(const catalog::Retention& what) {
    if (cut()) return;
    judge_retention(what);
    remove([&](sys::Store& store) { return pruned(store, what); });
}

void World::prune_above(std::int64_t step) {
    const auto session = claim();
    if (!session) return;
    end_run_lock(*session);
    if (cut()) return;
    const format::LineStart start{{*session, 0}, step};
    ledger_.begun_starts.push_back(start);
    const bool done =
        remove([&](sys::Store& store) { return catalog::prune_above(store, run, stream, step, *session, false); });
    if (done) ledger_.starts.push_back(start);
}

void World::prune_line(const format::Line& line) {
    const auto act = [&](sys::Store& store, bool dry_run) {
        return catalog::prune_line(store, run, stream, line, dry_run);
    };
    if (cut() || !act(*disk_->clone(), true)) return;
    ledger_.begun_drops.insert(line);
    if (remove([&](sys::Store& store) { return act(store, false); })) ledger_.drops.insert(line);
}

void World::recover(bool remove_incomplete) {
    if (cut()) return;
    const auto recovered = commit::recover(store(), run, remove_incomplete);
    if (!recovered) return fault(recovered.error());
    // Every listed snapshot is durable now. The later of two saves of a line and step counts.
    std::vector<test::SmallSnapshot> listed;
    for (const auto id : ids_on(*disk_->clone()))
        if (const auto* save = ledger_.save_of(id); save != nullptr) listed.push_back(*save);
    std::ranges::sort(listed,
                      [](const auto& a, const auto& b) { return format::is_later(which_save(b), which_save(a)); });
    for (const auto& save : listed) {
        const auto promised = ledger_.durable.find({save.lineage.line(), save.step});
        const bool stands = promised != ledger_.durable.end() && !ledger_.may_vanish.contains(promised->second.id) &&
                            format::is_later(which_save(promised->second), which_save(save));
        if (!stands) ledger_.note_committed(save);
    }
}

std::optional<format::ManifestHead> World::newest(std::int64_t below) const {
    const auto all = catalog::history(*disk_->clone(), run, stream);
    if (!all) return {};
    auto living = all->living;
    std::erase_if(living, [below](const catalog::Version& version) { return version.head.step >= below; });
    const auto* chosen = choose(living);
    return chosen == nullptr ? std::nullopt : std::optional(chosen->head);
}

const catalog::Version* World::choose(const std::vector<catalog::Version>& living) const {
    if (programs_.choose) return programs_.choose(living);
    const auto first = std::ranges::find_if(living, [](const auto& version) { return version.readable.has_value(); });
    return first == living.end() ? nullptr : &*first;
}

}  // namespace forebay::crash

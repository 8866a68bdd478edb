// Compares with the ledger: living snapshots, the choice of a restart, batches, and leftovers.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes.hpp"
#include "crash/world.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"

namespace forebay::crash {

namespace {

using test::SmallSnapshot;

std::string told(const SmallSnapshot& save) {
    return fmt::format("step {} of line {} ({})", save.step, format::name_of(save.lineage.line()),
                       catalog::id_text(save.id));
}

bool has(const std::vector<catalog::Version>& versions, std::uint64_t id) {
    return std::ranges::any_of(versions, [id](const auto& version) { return version.head.snapshot_id == id; });
}

}  // namespace

std::vector<std::string> World::judge_lines(const catalog::History& history) const {
    std::vector<std::string> wrong;
    for (const auto& version : history.living) {
        const auto* save = ledger_.save_of(version.head.snapshot_id);
        if (save != nullptr && ledger_.must_be_abandoned(*save))
            wrong.push_back(told(*save) + " is living, and was abandoned");
    }
    for (const auto& version : history.abandoned) {
        const auto* save = ledger_.save_of(version.head.snapshot_id);
        if (save != nullptr && !ledger_.may_be_abandoned(*save))
            wrong.push_back(told(*save) + " counts as abandoned, and nobody has gone back behind it");
    }
    return wrong;
}

// A restart must take the highest step that is certainly living, or a higher step. If lines ascend, it must take a
// snapshot of the newest line.
std::string World::judge_choice(const catalog::History& history, bool recovered) const {
    const SmallSnapshot* highest = nullptr;
    format::Line newest;
    const auto promised = ledger_.promised();
    for (const auto& save : promised) {
        if (ledger_.begun_drops.contains(save.lineage.line())) continue;
        if (!recovered && is_being_replaced(save)) continue;
        if (!ledger_.may_be_left_for_good(save)) newest = std::max(newest, save.lineage.line());
        if (!ledger_.may_be_abandoned(save) && (highest == nullptr || save.step > highest->step)) highest = &save;
    }
    const auto* chosen = choose(history.living);
    const auto* save = chosen == nullptr ? nullptr : ledger_.save_of(chosen->head.snapshot_id);
    if (highest != nullptr && (save == nullptr || save->step < highest->step))
        return fmt::format("a restart takes {}, and {} was committed", save == nullptr ? "nothing" : told(*save),
                           told(*highest));
    if (save != nullptr && !has(history.living, save->id)) return "a restart takes what is abandoned: " + told(*save);
    if (save != nullptr && save->lineage.line() < newest && ledger_.ascends())
        return fmt::format("a restart takes {}, and line {} was committed", told(*save), format::name_of(newest));
    return {};
}

const Batch* World::batch_of(std::uint64_t id) const {
    const auto batch = std::ranges::find(ledger_.batches, id, &Batch::id);
    return batch == ledger_.batches.end() ? nullptr : &*batch;
}

std::vector<std::string> World::judge_batches() const {
    std::vector<std::string> wrong;
    std::set<std::uint64_t> ids;
    const auto& name = programs_.batches;
    const auto all = catalog::snapshots(*disk_, run, name);
    if (!all && all.error().kind != ErrorKind::missing) wrong.push_back(all.error().text());
    for (const auto& snapshot : all ? *all : std::vector<catalog::Snapshot>{}) {
        const auto id = id_in(snapshot.directory);
        const auto* batch = id ? batch_of(*id) : nullptr;
        if (batch == nullptr) {
            wrong.push_back(snapshot.directory + " is nobody's batch");
            continue;
        }
        if (!ids.insert(batch->id).second)
            wrong.push_back(fmt::format("batch {} is there twice", catalog::id_text(batch->id)));
        const auto stored = disk_->peek(snapshot.directory + "/" + format::node_path(0, 1)).value_or("");
        const auto verified = catalog::verify(*disk_, snapshot, {});
        if (!verified || !verified->damage.empty() ||
            stored != text_of(image_of(*batch, {run, name, snapshot.step, batch->id, run_id_})))
            wrong.push_back(snapshot.directory + " is not what was packed");
    }
    for (const auto id : ledger_.in_batches)
        if (!ids.contains(id)) wrong.push_back(fmt::format("batch {} was committed and is lost", catalog::id_text(id)));
    return wrong;
}

std::vector<std::string> World::lost_from_memory() const {
    std::map<std::uint64_t, std::uint32_t> sealed;
    for (const auto& [place, staged] : memory_)
        if (const auto peeked = format::peek(staged, "staged"); peeked) ++sealed[peeked->record.snapshot_id];
    std::vector<std::string> lost;
    for (const auto& [id, nodes] : sealed) {
        const auto* save = ledger_.save_of(id);
        if (save == nullptr || nodes != save->nodes || ledger_.removed.contains(id)) continue;
        if (save->lineage.run_id != run_id_) continue;
        const auto* committed = committed_like(*save);
        if (committed == nullptr || format::is_later(which_save(*save), which_save(*committed)))
            lost.push_back(told(*save) + " was sealed and is not committed");
    }
    for (const auto& [host, files] : spools_)
        for (const auto& [path, content] : files) lost.push_back(path + " was put into a spool and is not packed");
    return lost;
}

std::vector<std::string> World::leftovers(bool stale) const {
    std::vector<std::string> names;
    for (const auto& path : disk_->paths()) {
        const auto dot = path.find("/.");
        if (dot == std::string::npos) continue;
        const auto name = path.substr(dot + 1, path.find('/', dot + 1) - dot - 1);
        if (catalog::start_of(name) || catalog::dropped_of(name)) continue;
        if (name == ".marks" && !path.ends_with(".tmp")) continue;  // marks are part of their snapshot
        const auto leftover = catalog::leftover_of(name);
        const bool is_part = leftover && leftover->kind == catalog::Leftover::Kind::part;
        // Parts that an agent of another run drained here are only reported. A person decides about them.
        const auto* save = is_part ? ledger_.save_of(leftover->snapshot_id) : nullptr;
        if (save != nullptr && save->lineage.run_id != run_id_) continue;
        if (!stale && (is_part || path.ends_with(".tmp") || name.ends_with(".new"))) continue;
        names.push_back(path);
    }
    return names;
}

}  // namespace forebay::crash

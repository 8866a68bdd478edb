#include "transfer/team/copy_team.hpp"

#include <fmt/format.h>

#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "transfer/team/team_words.hpp"

namespace forebay::tree {

namespace {

std::vector<std::atomic<std::uint64_t>*> fields_of(CopyCounts& counts, const EntryFilter& filter) {
    std::vector<std::atomic<std::uint64_t>*> fields{&counts.entries,
                                                    &counts.bytes,
                                                    &counts.copied,
                                                    &counts.linked,
                                                    &counts.adjusted,
                                                    &counts.equal,
                                                    &counts.folders,
                                                    &counts.removed,
                                                    &counts.resumed_bytes,
                                                    &counts.laid_out,
                                                    &counts.fewer_stripes,
                                                    &counts.passed_bytes,
                                                    &counts.would_copy.entries,
                                                    &counts.would_copy.bytes,
                                                    &counts.would_replace.entries,
                                                    &counts.would_replace.bytes};
    const auto uses = filter.uses();
    fields.insert(fields.end(), uses.begin(), uses.end());
    return fields;
}

// A file in the target that every worker looks for. It is removed before copying begins.
class SeenFile {
public:
    SeenFile(sys::Folder& folder, std::string name) : folder_(folder), name_(std::move(name)) {}
    SeenFile(const SeenFile&) = delete;
    SeenFile& operator=(const SeenFile&) = delete;
    ~SeenFile() { static_cast<void>(folder_.remove(name_)); }

private:
    sys::Folder& folder_;
    std::string name_;
};

}  // namespace

CopyTeam::CopyTeam(CopyParts& parts, Team& team)
    : parts_(parts), team_(team), counts_(fields_of(parts.counts, parts.options.filter)) {
    parts_.dir_node_ends.tell_root_done([&team] { team.root_done(); });
    if (team.process() != 0)  // the coordinator replaces deferred directories at the end
        parts_.deferred.send_to_other([&team](const EntryPlace& place) {
            team.say({.kind = TeamKind::deferred, .path = team_path(*place.dir_node), .text = place.name});
        });
    parts_.links.share_with_others([this](const sys::EntryStatus& status, const sys::EntryId& existing,
                                          const EntryPlace& own, EntryPlace&) { return ask(status, existing, own); },
                                   [this](const sys::EntryId& id, const EntryPlace& at) { tell(id, at); });
}

TeamWork CopyTeam::work(const DirNodeRef& root) {
    return {.share = parts_.share,
            .folders = parts_.folders,
            .root = root,
            .may_lack_target = parts_.options.is_dry,
            .makes_target = !parts_.options.is_dry,
            .enter = [this](TreeWorker& worker, const DirNodeRef& dir_node) { parts_.walk.enter(worker, dir_node); },
            .batch = [this](TreeWorker& worker, const DirNodeRef& dir_node,
                            const NameBatch& batch) { parts_.walk.copy_batch(worker, dir_node, batch); },
            .file = [this](TreeWorker& worker, const DirNodeRef& folder,
                           const TeamMessage& work_item) { return copy_piece(worker, folder, work_item); },
            .done = [this](const DirNodeRef& dir_node) { parts_.dir_node_ends.done_in(dir_node); },
            .counts = [this] { return counts_.own(); },
            .idle = [this] { parts_.naming.flush_idle(); },
            .hear =
                [this](const TeamMessage& message) {
                    if (message.kind == TeamKind::link_answer) hear_link(message);
                    else if (message.kind == TeamKind::beat) parts_.flow.set_rate(message.number);
                }};
}

void CopyTeam::settle(const TeamMessage& message) {
    switch (message.kind) {
        case TeamKind::log_entry: return add_log_entry(message, parts_.entry_log);
        case TeamKind::unkept:
            if (const auto taken = parts_.losses.take_unkept(unkept_of(message)); !taken)
                parts_.failures.end_by(taken.error());
            return;
        case TeamKind::counts:
        case TeamKind::bye: counts_.take(message); return parts_.flow.tick();
        case TeamKind::deferred: return deferred(message.path, message.text);
        case TeamKind::failed: return parts_.failures.end_by(error_of(message));
        default: return;
    }
}

void CopyTeam::deferred(const std::string& path, const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (deferred_.size() < parts_.options.tables.deferred) deferred_.emplace(path, name);
    else parts_.deferred.note_more();
}

TeamMessage CopyTeam::question(const sys::EntryStatus& status, const sys::EntryId& existing,
                               const EntryPlace& own) const {
    TeamMessage question{.kind = TeamKind::link_ask, .id = team_id(*own.dir_node, TreeSide::source, status.id)};
    question.id.device ^= proof_of(status);
    if (existing != sys::EntryId{}) question.other_id = team_id(*own.dir_node, TreeSide::target, existing);
    return question;
}

HardLinks::Turn CopyTeam::ask(const sys::EntryStatus& status, const sys::EntryId& existing, const EntryPlace& own) {
    auto asked = question(status, existing, own);
    // Stored before it is sent: the answer may come at once.
    {
        const std::lock_guard lock(mutex_);
        asked_[asked.id] = {parts_.links.id_of(status), existing};
    }
    team_.say(std::move(asked));
    return HardLinks::Turn::waits;
}

void CopyTeam::tell(const sys::EntryId& id, const EntryPlace& at) {
    TeamMessage message{.kind = at.dir_node ? TeamKind::link_published : TeamKind::link_failed};
    {
        const std::lock_guard lock(mutex_);
        const auto known = known_as_.extract(id);
        if (!known) return;  // an inode of one name
        message.id = known.mapped();
    }
    if (at.dir_node) {
        message.path = team_path(*at.dir_node);
        message.text = at.name;
    }
    team_.say(std::move(message));
}

void CopyTeam::hear_link(const TeamMessage& answer) {
    Asked asked;
    {
        const std::lock_guard lock(mutex_);
        const auto node = asked_.extract(answer.id);
        if (!node) return;
        asked = node.mapped();
        if ((answer.flags & link_is_first) != 0) known_as_[asked.source] = answer.id;
    }
    if ((answer.flags & link_is_first) != 0) {
        // Another source file has claimed that target inode: it must not be kept for this file.
        if (asked.existing != sys::EntryId{} && (answer.flags & link_may_keep) == 0)
            if (const auto claimed = parts_.links.claim_target(asked.existing, {}); !claimed)
                parts_.failures.end_by(claimed.error());
        return parts_.share.add_from_outside([this, id = asked.source](TreeWorker& worker) {
            // If no waiting name still needs the inode, the grant goes back, so that another process can copy it.
            for (const auto& place : parts_.links.granted(id)) parts_.further_names.copy_waiting(worker, place);
            parts_.links.take_grant_back(id);
        });
    }
    parts_.share.add_from_outside([this, id = asked.source, answer](TreeWorker& worker) {
        auto folder = team_.folder_at(answer.path);
        if (folder) {
            const EntryPlace first{*folder, answer.text};
            return parts_.further_names.link_all(worker, parts_.links.found(id, first), first, id);
        }
        for (const auto& place : parts_.links.granted(id)) {
            parts_.failures.report(path_of(*place.dir_node, place.name), folder.error());
            parts_.dir_node_ends.done_in(place.dir_node);
        }
    });
}

// Opens both files again and checks that they are the files of the other process.
Result<std::string> CopyTeam::copy_piece(TreeWorker& worker, const DirNodeRef& folder, const TeamMessage& work_item) {
    FB_TRY_ASSIGN(piece, GivenPiece::from(work_item));
    FB_TRY_ASSIGN(source_folder, parts_.folders.get(folder, TreeSide::source));
    FB_TRY_ASSIGN(target_folder, parts_.folders.get(folder, TreeSide::target));
    FB_TRY_ASSIGN(source, source_folder->open_file(piece.name));
    FB_TRY_ASSIGN(target, target_folder->reopen_file(piece.temporary));
    FB_TRY_ASSIGN(status, source->status());
    FB_TRY_ASSIGN(result, target->status());
    if (!parts_.names.is_temporary(piece.temporary) || !piece.is_of(status, result))
        return Error{ErrorKind::retry, "the file differs here from the file whose copy was begun"};
    FB_TRY(target->begin(piece.name, *source, status));
    const bool sparse = has_holes(status) && !target->begins_with_attributes();
    FB_TRY(copy_bytes(*source, *target, piece.bytes, sparse, parts_.flow.way(), worker.buffer));
    // The other process renames the file, and it cannot sync data in the memory of this host.
    if (parts_.options.syncs) FB_TRY(target->sync());
    return target->written_parts();
}

Result<> CopyTeam::take_over(Coordinator& lead) {
    parts_.dir_node_ends.tell_root_done({});
    parts_.links.share_with_others(
        [this, &lead](const sys::EntryStatus& status, const sys::EntryId& existing, const EntryPlace& own,
                      EntryPlace& at) -> Result<HardLinks::Turn> {
            FB_TRY_ASSIGN(answer, lead.link_of(question(status, existing, own)));
            if ((answer.flags & link_is_first) == 0)
                if (auto folder = team_.folder_at(answer.path)) {
                    at = {*folder, answer.text};
                    return HardLinks::Turn::ready;
                }
            return HardLinks::Turn::first;
        },
        {});
    for (const auto& [path, name] : deferred_) {
        FB_TRY_ASSIGN(folder, team_.folder_at(path));
        parts_.deferred.add({folder, name});
    }
    return {};
}

Result<> begin_copy_team(const std::string& source, const std::string& target, const std::string& prefix,
                         const TreeCopyOptions& options, const EntryLog& entry_log, sys::Folder& source_root,
                         sys::Folder* target_root) {
    TeamOrder order{.verb = TeamVerb::copy,
                    .threads = team_threads({source, target}, options.threads),
                    .source = team_place(source),
                    .target = team_place(target),
                    .temporary_prefix = prefix,
                    .options = options,
                    .has_list = options.wished != nullptr,
                    .lacks_target = target_root == nullptr,
                    .recorded = entry_log.recorded()};
    FB_TRY_ASSIGN(root, team_root(source_root, source));
    order.source_root = root;
    FB_TRY_ASSIGN(status, source_root.status());
    order.tells_births = status.born != sys::FileTime{};
    if (target_root == nullptr || options.is_dry) {
        if (target_root != nullptr) {
            FB_TRY_ASSIGN(other, team_root(*target_root, target));
            order.target_root = other;
        }
        return options.lead->begin(std::move(order));
    }
    order.probe = fmt::format("{}probe-{:016x}", prefix, sys::random_u64());
    FB_TRY_ASSIGN(file, target_root->make_file(order.probe, 0600));
    const SeenFile probe(*target_root, order.probe);
    // In an object store an object appears only at its rename. Elsewhere this rename does nothing.
    FB_TRY(target_root->rename(order.probe, order.probe));
    FB_TRY_ASSIGN(other, team_root(*target_root, target));
    order.target_root = other;
    return options.lead->begin(std::move(order));
}

}  // namespace forebay::tree

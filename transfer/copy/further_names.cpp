#include "transfer/copy/further_names.hpp"

#include <utility>

#include "core/base/try.hpp"
#include "transfer/copy/make_file.hpp"

namespace forebay::tree {

Error folder_in_the_way() {
    return {ErrorKind::refused, "the target has a directory in its place. sync --delete replaces it"};
}

Result<CopyStep> FurtherNames::take_name(TreeWorker& worker, CopyEntry entry, FoundEntry& match) {
    const auto& status = match.sight.source;
    const auto& existing = match.sight.existing;
    const EntryPlace own{entry.dir_node, entry.name};
    entry.inode = use_.links.id_of(status);
    ++entry.dir_node->pending;  // for a name that waits; the thread that links it counts it as done
    const auto old = existing && existing->names > 1 ? existing->id : sys::EntryId{};
    const auto turn = use_.links.take(status, old, own, match.first);
    if (turn && *turn == HardLinks::Turn::waits) {
        // For a long time only further names may come, so no batch with their first name would fill up.
        if (use_.links.waiting() % waiting_names_max == 0) use_.naming.flush(worker);
        return CopyStep::later;
    }
    --entry.dir_node->pending;  // never the last: this batch of names keeps the node pending
    FB_TRY(turn);
    match.sight.has_copy = *turn == HardLinks::Turn::ready;
    match.counts_bytes = !match.sight.has_copy;
    const auto step = place_(worker, entry, match);
    if (match.sight.has_copy) return step;
    if (step && *step == CopyStep::done) link_waiting(worker, entry.inode, own);
    else if (!step || *step != CopyStep::later) give_up_waiting(worker, entry.inode);
    return step;
}

Result<CopyEntry> FurtherNames::entry_at(const EntryPlace& place) {
    FB_TRY_ASSIGN(source, use_.folders.get(place.dir_node, TreeSide::source));
    CopyEntry entry{.dir_node = place.dir_node, .source = source, .name = place.name};
    if (use_.options.is_dry && place.dir_node->was_made) return entry;
    FB_TRY_ASSIGN(target, use_.folders.get(place.dir_node, TreeSide::target));
    entry.target = target;
    return entry;
}

Result<CopyStep> FurtherNames::check_way(const EntryPlace& place, const std::optional<sys::EntryStatus>& existing,
                                         const sys::EntryId& id, const EntryPlace& first) {
    const auto decision = decide_folder(existing, use_.lookup.rules());
    if (!decision) return CopyStep::done;
    if (*decision == EntryDecision::refuse) return folder_in_the_way();
    use_.links.asks_again(id, first);
    use_.deferred.add(place);
    return CopyStep::deferred;
}

Result<CopyStep> FurtherNames::link_name(TreeWorker& worker, const EntryPlace& place, const EntryPlace& first,
                                         const sys::EntryId& id) {
    FB_TRY_ASSIGN(entry, entry_at(place));
    const auto linked = use_.options.is_dry ? Result<CopyStep>(CopyStep::later) : use_.linker.link_copy(entry, first);
    if (linked && *linked != CopyStep::later) return linked;
    // The link failed, possibly because the target folds spellings: that error is clearer.
    if (!linked) FB_TRY(check_spelling(*place.dir_node, *entry.target, place.name));
    FoundEntry match{.counts_bytes = false};
    FB_TRY_ASSIGN(status, entry.source->status_of(place.name));
    match.sight.source = status;
    if (entry.target)
        if (const auto looked = entry.target->status_of(place.name)) match.sight.existing = *looked;
    FB_TRY_ASSIGN(way, check_way(place, match.sight.existing, id, first));
    if (way != CopyStep::done) return way;
    if (linked) return use_.dry.would_link(worker, entry, first, match.sight);
    if (linked.error().kind == ErrorKind::refused) FB_TRY(check_takes_files(entry, use_.names.name_for(place.name)));
    FB_TRY(use_.losses.settle_of(entry, status)("hard link to " + path_of(*first.dir_node, first.name), "",
                                                linked.error()));
    return place_(worker, entry, match);  // by the policy it becomes a separate file
}

void FurtherNames::link_waiting(TreeWorker& worker, const sys::EntryId& id, const EntryPlace& first) {
    link_all(worker, use_.links.published(id, first), first, id);
}

void FurtherNames::link_all(TreeWorker& worker, const std::vector<EntryPlace>& places, const EntryPlace& first,
                            const sys::EntryId& id) {
    for (const auto& waiting : places) {
        if (auto linked = link_name(worker, waiting, first, id); !linked)
            use_.failures.report(waiting.dir_node, waiting.name, linked.error());
        use_.dir_node_ends.done_in(waiting.dir_node);
    }
}

void FurtherNames::give_up_waiting(TreeWorker& worker, const sys::EntryId& id) {
    for (auto& waiting : use_.links.failed(id))
        worker.share->add(worker, [this, waiting](TreeWorker& other) { copy_waiting(other, waiting); });
}

void FurtherNames::copy_waiting(TreeWorker& worker, const EntryPlace& waiting) {
    const auto entry = entry_at(waiting);
    const auto copied = entry ? copy_(worker, *entry) : Result<CopyStep>(entry.error());
    if (!copied) use_.failures.report(waiting.dir_node, waiting.name, copied.error());
    use_.dir_node_ends.done_in(waiting.dir_node);
}

}  // namespace forebay::tree

#include "transfer/copy/dry_copy.hpp"

#include "core/base/try.hpp"
#include "transfer/copy/precheck.hpp"

namespace forebay::tree {

Result<CopyStep> DryCopier::would_copy(const CopyEntry& entry, EntryDecision decision, const EntrySight& sight) {
    const auto& source = sight.source;
    const auto& preserve = use_.options.preserve;
    const bool is_adjusted = decision == EntryDecision::adjust;
    if (auto* target = target_of(entry); target != nullptr) {
        if (const auto can = is_adjusted ? Result<>() : target->can_make(source.kind); !can) {
            FB_TRY(use_.losses.settle_of(entry, source)(word_of(source.kind), "", can));
            return CopyStep::done;  // by the policy nothing of it would exist
        }
        auto held = use_.maker.new_entry(entry, source).held_by_new();
        if (is_adjusted) held = {.user = sight.existing->user, .group = sight.existing->group};
        FB_TRY_ASSIGN(attributes, wished_attributes(*entry.source, entry.name, preserve));
        FB_TRY(precheck(use_.losses, preserve, entry.path(), *target, source, held, attributes));
    }
    if (is_adjusted) {
        use_.entry_log.add(EntryEvent::would_adjust, entry.path(), difference_in(sight, preserve));
        return CopyStep::done;
    }
    auto& amount = sight.existing ? use_.counts.would_replace : use_.counts.would_copy;
    amount.add(source.kind == sys::EntryKind::file ? source.bytes : 0);
    use_.entry_log.add(EntryEvent::would_copy, entry.path(),
                       sight.existing ? "it differs" : "the target does not have it");
    return CopyStep::done;
}

Result<CopyStep> DryCopier::would_link(TreeWorker& worker, const CopyEntry& entry, const EntryPlace& first,
                                       EntrySight& sight) {
    const auto first_path = path_of(*first.dir_node, first.name);
    const auto can = target_of(entry) != nullptr ? target_of(entry)->can_link() : Result<>();
    if (!can) {
        FB_TRY(use_.losses.settle_of(entry, sight.source)("hard link to " + first_path, "", can));
        return would_copy(entry, EntryDecision::make, sight);  // by the policy it becomes a separate file
    }
    FB_TRY_ASSIGN(is_linked, is_name_of(first, sight));
    if (is_linked) {
        FB_TRY_ASSIGN(decision, use_.lookup.look_and_decide(worker, entry, sight));
        if (decision == EntryDecision::refuse) return *sight.unread_because;
        if (decision == EntryDecision::keep ||
            decision == EntryDecision::adjust) {  // already adjusted under its first name
            ++use_.counts.equal;
            return CopyStep::done;
        }
    }
    (sight.existing ? use_.counts.would_replace : use_.counts.would_copy).add(0);
    use_.entry_log.add(EntryEvent::would_copy, entry.path(), "it becomes a hard link to " + first_path);
    return CopyStep::done;
}

Result<bool> DryCopier::is_name_of(const EntryPlace& first, const EntrySight& sight) {
    if (!sight.existing || first.dir_node->was_made) return false;
    FB_TRY_ASSIGN(folder, use_.folders.get(first.dir_node, TreeSide::target));
    const auto old = folder->status_of(first.name);
    return old && old->id == sight.existing->id;
}

}  // namespace forebay::tree

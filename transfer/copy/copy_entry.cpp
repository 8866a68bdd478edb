#include "transfer/copy/copy_entry.hpp"

#include "core/base/try.hpp"
#include "transfer/copy/copy_entry_log.hpp"

namespace forebay::tree {

Result<CopyStep> EntryCopier::copy(TreeWorker& worker, const CopyEntry& entry, sys::EntryKind kind,
                                   std::uint64_t listed_number) {
    FB_TRY_ASSIGN(match, use_.lookup.look_up(entry, kind, listed_number));
    if (match.step != CopyStep::done) return match.step;
    const bool has_names = match.sight.source.names > 1 && use_.options.preserve.hard_links;
    return has_names ? use_.further_names.take_name(worker, entry, match) : place(worker, entry, match);
}

Result<CopyStep> EntryCopier::place(TreeWorker& worker, const CopyEntry& entry, FoundEntry& match) {
    const auto step = carry_out(worker, entry, match);
    const auto& status = match.sight.source;
    // Further names have no bytes of their own. The pieces of a large file are counted as they arrive.
    const bool comes_in_pieces = step && *step == CopyStep::later && status.bytes >= large_file_bytes;
    if (status.kind == sys::EntryKind::file && match.counts_bytes && !comes_in_pieces)
        use_.counts.passed_bytes += status.bytes;
    return step;
}

Result<CopyStep> EntryCopier::carry_out(TreeWorker& worker, const CopyEntry& entry, FoundEntry& match) {
    FB_TRY_ASSIGN(decision, use_.lookup.look_and_decide(worker, entry, match.sight));
    const EntryPlace place{entry.dir_node, entry.name};
    const auto& sight = match.sight;
    if (decision == EntryDecision::link) return use_.further_names.link_name(worker, place, match.first, entry.inode);
    if (decision == EntryDecision::refuse) return sight.unread_because ? *sight.unread_because : folder_in_the_way();
    if (decision == EntryDecision::defer) {
        use_.deferred.add(place);
        return CopyStep::deferred;
    }
    tell_flags(use_.entry_log, *place.dir_node, place.name, sight.source);
    if (decision == EntryDecision::keep) {
        ++use_.counts.equal;
        return CopyStep::done;
    }
    const bool is_file = sight.source.kind == sys::EntryKind::file;
    // A file that must be read and is not open yet may have its bytes only in an archive (HSM).
    if (is_file && decision != EntryDecision::adjust && !match.file) {
        FB_TRY_ASSIGN(is_left, use_.lookup.leaves(entry));
        if (is_left) return CopyStep::reported;
    }
    if (use_.options.is_dry) return use_.dry.would_copy(entry, decision, sight);
    if (decision == EntryDecision::adjust) return use_.maker.adjust_copy(entry, sight);
    if (is_file && sight.source.bytes >= large_file_bytes)
        return use_.large_files.start_large(worker, place, entry.inode);
    return use_.maker.make_copy(worker, entry, sight.source, std::move(match.file));
}

}  // namespace forebay::tree

#include "transfer/copy/publisher.hpp"

#include "core/base/try.hpp"

namespace forebay::tree {

Result<CopyStep> NamePublisher::publish(TemporaryName& temporary, const EntryPlace& place, sys::Folder& folder,
                                        RemarkKind kind) {
    const bool was_there =
        remarks_.records(RemarkKind::replaced) && !place.branch->was_made && folder.status_of(place.name);
    if (was_there && check_recorded() != CopyStep::done) return CopyStep::reported;
    FB_TRY(temporary.publish(place.name, Spellings::of(*place.branch, folder)));
    count(place, kind, was_there);
    return CopyStep::done;
}

// What is replaced is no more: nothing else is, once the report cannot say so.
CopyStep NamePublisher::check_recorded() {
    const auto taken = remarks_.taken();
    if (taken || !remarks_.records(RemarkKind::replaced)) return CopyStep::done;
    failures_.end_by(taken.error());
    return CopyStep::reported;
}

void NamePublisher::count(const EntryPlace& place, RemarkKind kind, bool has_replaced) {
    place.branch->was_changed = true;
    ++(kind == RemarkKind::linked ? counts_.linked : counts_.copied);
    record(has_replaced ? RemarkKind::replaced : kind, *place.branch, place.name);
}

}  // namespace forebay::tree

// The archive has the bytes of an inode at its first name: where patterns leave this one out, the next of its names
// gets them. Where they are, another reading tells, which is cheaper than to remember all that was left out.

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "transfer/archive/restorer.hpp"

namespace forebay::archive {

Result<> Restorer::restore_left_out() {
    if (left_out_.names.size() == 0) return {};
    Result<> found, done;
    FB_TRY(context.share.run([&](tree::TreeWorker&) { found = find_left_out(); }));
    FB_TRY(context.naming.run([&](tree::TreeWorker& worker) { done = give_left_out(worker); }));
    FB_TRY(done);
    FB_TRY(context.share.run([&](tree::TreeWorker& worker) { done = link_left_out(worker); }));
    FB_TRY(done);
    return found;  // an archive that is damaged, of which all before that place is restored
}

// Of an inode the last ones before its next name.
Result<> Restorer::find_left_out() {
    ArchiveReader reader(file_, file_bytes_, context.way());
    while (!context.share.is_stopped()) {
        FB_TRY_ASSIGN(found, reader.next());
        if (!found) break;
        const auto path = clean_path(found->member.path);
        if (!path || !found->member.same_as.empty() || found->member.status.kind == sys::EntryKind::folder) continue;
        FB_TRY_ASSIGN(inode, left_out_.by_first_names.find(key_of(*path)));
        if (!inode || found->offset > inode->name.offset) continue;
        inode->bytes = {.offset = found->offset, .common = number_of(found->common)};
        inode->has_bytes = true;
        FB_TRY(left_out_.by_first_names.put(key_of(*path), *inode));
        context.tick();
    }
    return {};
}

Result<> Restorer::give_left_out(tree::TreeWorker& worker) {
    const auto give = [&](const Member& name) -> Result<> {
        FB_TRY_ASSIGN(first_path, clean_path(name.same_as));
        FB_TRY_ASSIGN(inode, left_out_.by_first_names.find(key_of(first_path)));
        if (!inode || !inode->has_bytes)
            return Error{ErrorKind::missing, "the archive has no bytes of " + show_text(first_path) + " before it"};
        FB_TRY_ASSIGN(found, member_at(inode->bytes));
        found.member.path = name.path;
        if (!found.is_large()) return restore(worker, found);
        start_large_restore(*this, worker, std::move(found));
        return {};
    };
    for (std::uint64_t index = 0; index < left_out_.names.size() && !context.share.is_stopped(); ++index) {
        FB_TRY_ASSIGN(later, left_out_.names.at(index));
        const auto name = member_at(later);
        if (const auto given = name ? give(name->member) : Result<>(name.error()); !given)
            context.report(name ? name->member.path : ".", given.error());
        context.tick();
        context.share.relieve(worker);
    }
    return {};
}

Result<> Restorer::link_left_out(tree::TreeWorker& worker) {
    const auto link_other = [&](const Member& other) -> Result<> {
        FB_TRY_ASSIGN(first_path, clean_path(other.same_as));
        FB_TRY_ASSIGN(inode, left_out_.by_first_names.find(key_of(first_path)));
        FB_TRY_ASSIGN(name, member_at(inode->name));
        return link_to(worker, other.path, name.member.path);
    };
    for (std::uint64_t index = 0; index < left_out_.others.size() && !context.share.is_stopped(); ++index) {
        FB_TRY_ASSIGN(later, left_out_.others.at(index));
        const auto other = member_at(later);
        if (const auto linked = other ? link_other(other->member) : Result<>(other.error()); !linked)
            context.report(other ? other->member.path : ".", linked.error());
        context.tick();
    }
    return {};
}

}  // namespace forebay::archive

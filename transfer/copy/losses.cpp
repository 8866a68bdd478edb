#include "transfer/copy/losses.hpp"

#include <fmt/format.h>

#include <utility>

namespace forebay::tree {

Result<> Losses::settle(const std::string& path, const sys::EntryStatus& status, const std::string& part,
                        const std::string& value, Result<> done) {
    // The target cannot store it, or this user may not make it.
    if (done || (done.error().kind != ErrorKind::refused && done.error().kind != ErrorKind::unsupported)) return done;
    const auto why = fmt::format("the target cannot keep {}: {}", part, done.error().what);
    switch (options_.cannot_keep) {
        case CannotKeep::refuse: return Error{ErrorKind::unsupported, why};
        case CannotKeep::drop: entry_log_.add(EntryEvent::not_kept, path, why); return {};
        case CannotKeep::manifest: break;
    }
    entry_log_.add(EntryEvent::saved_in_manifest, path, why);
    return take_unkept({.path = path, .part = part, .value = value, .status = status});
}

Settle Losses::settle_of(const CopyEntry& entry, const sys::EntryStatus& status) {
    return [&](const std::string& part, const std::string& value, Result<> done) {
        if (done) return done;  // the usual case: builds no path
        return settle(entry.path(), status, part, value, std::move(done));
    };
}

Result<> Losses::take_unkept(const Unkept& unkept) {
    const std::lock_guard lock(mutex_);
    return options_.manifest ? options_.manifest(unkept)
                             : Result<>(Error{ErrorKind::refused, "there is no manifest to keep " + unkept.part});
}

}  // namespace forebay::tree

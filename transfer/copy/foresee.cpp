#include "transfer/copy/foresee.hpp"

#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

Result<> foresee_attributes(sys::Folder& target, const AttributeSource& attributes, const Settle& settle) {
    for (const auto& name : attributes.names) {
        const auto can = target.can_have(name);
        if (can) continue;
        const auto value = attributes.value(name);
        FB_TRY(settle("attribute " + name, value ? *value : "", can));
    }
    return {};
}

}  // namespace

Result<> foresee(CopyContext& context, const std::string& path, sys::Folder& target, const sys::EntryStatus& status,
                 const Held& held, const AttributeSource& attributes) {
    const Settle settle = [&](const std::string& part, const std::string& value, Result<> done) {
        return context.settle(path, status, part, value, std::move(done));
    };
    if (const auto wished = wished_owner(status, held, context.options.preserve))
        FB_TRY(settle(wished->part, "", target.can_own(wished->user, wished->group)));
    FB_TRY(foresee_attributes(target, attributes, settle));
    if (!context.options.preserve.times || !status.has_times || !is_far(status.modified)) return {};
    auto there = status;
    there.modified = target.time_held(status.modified);
    return settle("times", "", check_time(status, there));
}

// The owner that it will have in the end: nobody else can open it sooner for that.
Result<> give_owner_first(CopyContext& context, const CopyEntry& entry, const sys::EntryStatus& status,
                          MadeFile& made) {
    const auto& options = context.options;
    const auto wished = wished_owner(status, made.held, options.preserve);
    if (options.cannot_keep != CannotKeep::refuse || status.bytes == 0 || !wished ||
        entry.target->can_own(wished->user, wished->group))
        return {};
    FB_TRY(settle_of(context, entry, status)(wished->part, "", made.file->set_owner(wished->user, wished->group)));
    made.held.user = wished->user;
    made.held.group = wished->group;
    return {};
}

Result<> refuse_attributes_first(CopyContext& context, const CopyEntry& entry, sys::OpenFile& source,
                                 const sys::EntryStatus& status) {
    if (context.options.cannot_keep != CannotKeep::refuse || !context.options.preserve.attributes) return {};
    FB_TRY_ASSIGN(attributes, attributes_of(source));
    return foresee_attributes(*entry.target, attributes, settle_of(context, entry, status));
}

}  // namespace forebay::tree

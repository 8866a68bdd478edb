#include "transfer/copy/precheck.hpp"

#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

Result<> precheck_attributes(sys::Folder& target, const AttributeSource& attributes, const Settle& settle) {
    for (const auto& name : attributes.names) {
        const auto can = target.can_have(name);
        if (can) continue;
        const auto value = attributes.value(name);
        FB_TRY(settle("attribute " + name, value ? *value : "", can));
    }
    return {};
}

}  // namespace

Result<> precheck(Losses& losses, const Preserve& preserve, const std::string& path, sys::Folder& target,
                  const sys::EntryStatus& status, const Held& held, const AttributeSource& attributes) {
    const Settle settle = [&](const std::string& part, const std::string& value, Result<> done) {
        return losses.settle(path, status, part, value, std::move(done));
    };
    if (const auto wished = wished_owner(status, held, preserve))
        FB_TRY(settle(wished->part, "", target.can_own(wished->user, wished->group)));
    FB_TRY(precheck_attributes(target, attributes, settle));
    if (!preserve.times || !status.has_times || !is_far(status.modified)) return {};
    auto there = status;
    there.modified = target.time_held(status.modified);
    return settle("times", "", check_time(status, there));
}

Result<> refuse_attributes_first(Losses& losses, const Preserve& preserve, const CopyEntry& entry,
                                 sys::OpenFile& source, const sys::EntryStatus& status) {
    if (!losses.are_refused() || !preserve.attributes) return {};
    FB_TRY_ASSIGN(attributes, attributes_of(source));
    return precheck_attributes(*entry.target, attributes, losses.settle_of(entry, status));
}

}  // namespace forebay::tree

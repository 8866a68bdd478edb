#include "transfer/copy/stored_layouts.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

// Lustre reports 512 bytes for a file with bytes only in an archive (LU-3864). Its smallest block on storage is 4096.
constexpr std::uint64_t released_bytes_max = 4095;

// A removed name has no attribute, and an unreadable file does not show it. The later read reports both.
Result<sys::StripeLayout> layout_in(const Result<std::string>& attribute) {
    if (attribute) return sys::lustre_layout(bytes_of(*attribute));
    const auto kind = attribute.error().kind;
    const bool is_none = kind == ErrorKind::missing || kind == ErrorKind::unsupported || kind == ErrorKind::refused;
    return is_none ? Result<sys::StripeLayout>(sys::StripeLayout()) : attribute.error();
}

}  // namespace

std::string released_text(TreeSide side) {
    return fmt::format("only an archive (HSM) has {} bytes. Give --recall to bring them back",
                       side == TreeSide::source ? "its" : "the target's");
}

Result<bool> StoredLayouts::has(sys::Folder& folder, std::uint64_t device) {
    const std::lock_guard lock(mutex_);
    if (const auto known = has_.find(device); known != has_.end()) return known->second;
    FB_TRY_ASSIGN(about, folder.file_system());
    has_.emplace(device, about.has_layouts);
    return about.has_layouts;
}

Result<sys::StripeLayout> StoredLayouts::layout_of(sys::Folder& folder, std::uint64_t device, const std::string& name) {
    FB_TRY_ASSIGN(is_told, has(folder, device));
    if (!is_told) return sys::StripeLayout();
    return layout_in(folder.attribute_of(name, sys::layout_attribute));
}

Result<bool> StoredLayouts::is_released(sys::Folder& folder, std::uint64_t device, const std::string& name) {
    FB_TRY_ASSIGN(layout, layout_of(folder, device, name));
    return layout.is_released;
}

Result<bool> StoredLayouts::is_released(sys::Folder& folder, std::uint64_t device, const std::string& name,
                                        const sys::EntryStatus& status) {
    if (status.kind != sys::EntryKind::file || status.bytes == 0 || status.allocated_bytes > released_bytes_max)
        return false;
    return is_released(folder, device, name);
}

Result<bool> StoredLayouts::leaves(const DirNode& dir_node, sys::Folder* source, sys::Folder* target,
                                   const std::string& name, EntryLog& entry_log) {
    if (recalls_) return false;
    for (const auto& [side, folder] : {std::pair(TreeSide::source, source), std::pair(TreeSide::target, target)}) {
        if (folder == nullptr) continue;
        FB_TRY_ASSIGN(is_left, is_released(*folder, dir_node.status(side).id.device, name));
        if (!is_left) continue;
        entry_log.add(EntryEvent::released, path_of(dir_node, name), released_text(side));
        return true;
    }
    return false;
}

Result<sys::StripeLayout> layout_of_new_files(sys::Folder& folder) {
    return layout_in(folder.attribute(sys::layout_attribute));
}

}  // namespace forebay::tree

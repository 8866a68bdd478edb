#include "transfer/copy/layouts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "transfer/copy/copied_entry.hpp"
#include "transfer/copy/copy.hpp"
#include "transfer/copy/temporary_names.hpp"

namespace forebay::tree {

namespace {

// A target takes some GB/s, so a larger file on one target takes minutes and may not fit: an object of ldiskfs has at
// most 16 TiB. Smaller files gain more from the site's own distribution.
constexpr std::uint64_t bytes_of_one_target = 64ull << 30;
constexpr std::size_t folders_known_max = 4096;

std::string value_of(const std::vector<std::byte>& wish) { return std::string(text_of(wish)); }

bool is_on_metadata_server(const sys::StripeStretch& stretch) {
    return (stretch.pattern & sys::pattern_on_metadata_server) != 0;
}

Error not_to_be_had(const char* why) {
    return {ErrorKind::unsupported, fmt::format("the source's layout has {}, which a copy cannot get", why)};
}

// Target numbers belong to the source's file system.
void forget_targets(sys::StripeLayout& layout) {
    for (auto& stretch : layout.stretches) stretch.stripes.targets.clear();
}

std::uint32_t wanted_of(const sys::StripeStretch& stretch) {
    const auto& targets = stretch.stripes.targets;
    return targets.empty() ? stretch.count : static_cast<std::uint32_t>(targets.size());
}

// If files get their objects at creation, Lustre accepts a layout and changes nothing (b=10667).
bool was_taken(const sys::StripeLayout& wish, const sys::StripeLayout& given) {
    if (given.is_composite != wish.is_composite || given.stretches.size() != wish.stretches.size()) return false;
    for (std::size_t i = 0; i < wish.stretches.size(); ++i) {
        const auto &wished = wish.stretches[i], &has = given.stretches[i];
        const auto& targets = wished.stripes.targets;
        const auto wanted = wanted_of(wished);
        const auto stripe_bytes = wished.stripes.stripe_bytes;
        if (wished.begin != has.begin || wished.end != has.end || wished.pattern != has.pattern) return false;
        if (stripe_bytes != 0 && stripe_bytes != has.stripes.stripe_bytes) return false;
        if (!wished.pool.empty() && wished.pool != has.pool) return false;
        if (wanted != 0 && wanted != sys::all_targets && has.count > wanted) return false;
        const auto is_other = [&](std::uint32_t target) { return std::ranges::find(targets, target) == targets.end(); };
        if (!targets.empty() && std::ranges::any_of(has.stripes.targets, is_other)) return false;
    }
    return true;
}

bool has_fewer(const sys::StripeLayout& wish, const sys::StripeLayout& given) {
    for (std::size_t i = 0; i < wish.stretches.size(); ++i) {
        const auto wanted = wanted_of(wish.stretches[i]);
        if (wanted != sys::all_targets && given.stretches[i].count < wanted) return true;
    }
    return false;
}

}  // namespace

Result<> check_layout(const RequestedLayout& wish, sys::Folder& target, const std::string& shown) {
    if (!wish.needs_layouts()) return {};
    FB_TRY_ASSIGN(about, target.file_system());
    if (about.has_layouts) return {};
    const bool is_layout = wish.kind == LayoutKind::source || wish.kind == LayoutKind::by_size;
    return Error{ErrorKind::unsupported,
                 fmt::format("{}: {} lies on a file system without a choice of storage targets",
                             is_layout ? "--layout" : "--exclude-targets", show_text(shown)),
                 "nothing was copied", "leave the option out: only Lustre has this choice"};
}

Layouts::Layouts(const TreeCopyOptions& options, CopyCounts& counts, std::string prefix)
    : stored(options.recalls),
      wish_(options.layout),
      counts_(counts),
      prefix_(std::move(prefix)),
      turn_(sys::random_u64() & UINT32_MAX) {}

Result<std::optional<sys::StripeLayout>> Layouts::layout_for(const CopyEntry& entry, const sys::EntryStatus& status) {
    const bool may_choose =
        wish_.needs_layouts() || (wish_.kind == LayoutKind::automatic && status.bytes > bytes_of_one_target);
    if (!may_choose) return std::optional<sys::StripeLayout>();
    FB_TRY_ASSIGN(has_choice, stored.has(*entry.target, entry.dir_node->status(TreeSide::target).id.device));
    if (!has_choice && wish_.needs_layouts())
        return Error{ErrorKind::unsupported, "another file system without this choice is mounted there"};
    if (!has_choice) return std::optional<sys::StripeLayout>();
    FB_TRY_ASSIGN(layout, wished_for(entry, status));
    if (!wish_.excluded_targets.empty()) {
        if (layout.empty()) {
            FB_TRY_ASSIGN(usual, usual_of(entry));
            layout = std::move(usual);
        }
        FB_TRY(leave_excluded_out(entry, layout));
    }
    return layout.empty() ? std::nullopt : std::optional(std::move(layout));
}

// Empty: the directory's layout.
Result<sys::StripeLayout> Layouts::wished_for(const CopyEntry& entry, const sys::EntryStatus& status) {
    if (wish_.kind == LayoutKind::usual) return sys::StripeLayout();
    if (wish_.kind == LayoutKind::source) {
        if (!entry.source) return sys::StripeLayout();
        const auto device = entry.dir_node->status(TreeSide::source).id.device;
        FB_TRY_ASSIGN(layout, stored.layout_of(*entry.source, device, entry.name));
        if (layout.no_wish != nullptr) return not_to_be_had(layout.no_wish);
        forget_targets(layout);
        return layout;
    }
    std::uint32_t count = 0;
    if (wish_.kind == LayoutKind::by_size) {
        count = std::ranges::find_if(wish_.sizes, [&](const SizeRule& rule) {
                    return status.bytes <= rule.bytes_max;
                })->stripes;
    } else if (status.bytes > bytes_of_one_target) {
        FB_TRY_ASSIGN(usual, usual_of(entry));
        const bool is_one = !usual.is_composite && usual.stretches.size() == 1 && usual.stretches[0].count <= 1;
        if (is_one)
            count = static_cast<std::uint32_t>(
                std::min<std::uint64_t>((status.bytes - 1) / bytes_of_one_target + 1, stripes_max));
    }
    if (count == 0) return sys::StripeLayout();
    // With the stripe size and pool of the directory.
    FB_TRY_ASSIGN(usual, usual_of(entry));
    sys::StripeStretch stretch{.count = count};
    if (!usual.empty() && !is_on_metadata_server(usual.stretches.back())) {
        stretch.stripes.stripe_bytes = usual.stretches.back().stripes.stripe_bytes;
        stretch.pool = usual.stretches.back().pool;
    }
    return sys::StripeLayout{.stretches = {std::move(stretch)}};
}

Result<sys::StripeLayout> Layouts::usual_of(const CopyEntry& entry) {
    const auto& id = entry.dir_node->status(TreeSide::target).id;
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = usual_.find(id); known != usual_.end()) return known->second;
    }
    FB_TRY_ASSIGN(layout, layout_of_new_files(*entry.target));
    // A layout that no user may request cannot be changed either: the directory's layout is used.
    if (layout.no_wish != nullptr) layout = {};
    forget_targets(layout);
    const std::lock_guard lock(mutex_);
    if (usual_.size() == folders_known_max) usual_.clear();
    usual_.emplace(id, layout);
    return layout;
}

Result<> Layouts::leave_excluded_out(const CopyEntry& entry, sys::StripeLayout& layout) {
    if (layout.empty()) layout.stretches.push_back({});
    for (auto& stretch : layout.stretches) {
        if (is_on_metadata_server(stretch)) continue;
        FB_TRY_ASSIGN(targets, targets_for(entry, stretch.pool));
        const auto count = std::clamp<std::uint64_t>(stretch.count, 1, targets.size());
        stretch.stripes.targets = sys::targets_in_turn(targets, turn_.fetch_add(count), count);
        stretch.pattern = sys::pattern_raid0;
    }
    return {};
}

// A file with a stripe on each target shows which targets exist. This needs no Lustre library, works with all versions,
// and finds only targets that take files now.
Result<Layouts::Targets> Layouts::targets_for(const CopyEntry& entry, const std::string& pool) {
    const std::lock_guard lock(mutex_);
    const std::pair key(entry.dir_node->status(TreeSide::target).id.device, pool);
    if (const auto known = targets_.find(key); known != targets_.end()) return known->second;
    const auto name = fmt::format("{}targets-{:016x}", prefix_, sys::random_u64());
    entry.dir_node->was_changed = true;
    FB_TRY_ASSIGN(file, entry.target->make_unlaid_file(name, 0600));
    const TemporaryName temporary(*entry.target, name);
    const sys::StripeLayout everywhere{.stretches = {{.count = sys::all_targets, .pool = pool}}};
    FB_TRY(file->set_attribute(sys::layout_attribute, value_of(sys::lustre_wish(everywhere))));
    FB_TRY_ASSIGN(attribute, file->attribute(sys::layout_attribute));
    const auto layout = sys::lustre_layout(bytes_of(attribute));
    auto targets = layout.empty() ? Targets() : layout.stretches.front().stripes.targets;
    std::ranges::sort(targets);
    std::erase_if(targets, [&](std::uint32_t target) {
        return std::ranges::find(wish_.excluded_targets, target) != wish_.excluded_targets.end();
    });
    if (targets.empty())
        return Error{ErrorKind::unsupported, fmt::format("--exclude-targets leaves no storage target{}{} for files",
                                                         pool.empty() ? "" : " of the pool ", show_text(pool))};
    targets_.emplace(key, targets);
    return targets;
}

Result<> Layouts::give(sys::OpenFile& file, const sys::StripeLayout& layout) {
    FB_TRY(file.set_attribute(sys::layout_attribute, value_of(sys::lustre_wish(layout))));
    const auto attribute = file.attribute(sys::layout_attribute);
    if (!attribute && attribute.error().kind != ErrorKind::missing) return attribute.error();
    const auto given = attribute ? sys::lustre_layout(bytes_of(*attribute)) : sys::StripeLayout();
    // Read it back: Lustre may accept a layout and use another.
    if (!was_taken(layout, given))
        return Error{ErrorKind::unsupported, "the file system accepted the layout, but gave the file another layout"};
    ++counts_.laid_out;
    if (has_fewer(layout, given)) ++counts_.fewer_stripes;
    return {};
}

Result<> Layouts::give_folder(const DirNode& dir_node, sys::Folder& source, sys::Folder& target) {
    if (wish_.kind != LayoutKind::source) return {};
    FB_TRY_ASSIGN(is_told, stored.has(source, dir_node.status(TreeSide::source).id.device));
    FB_TRY_ASSIGN(has_choice, stored.has(target, dir_node.status(TreeSide::target).id.device));
    if (!is_told || !has_choice) return {};
    FB_TRY_ASSIGN(wished, layout_of_new_files(source));
    if (wished.empty()) return {};
    if (wished.no_wish != nullptr) return not_to_be_had(wished.no_wish);
    FB_TRY_ASSIGN(present, layout_of_new_files(target));
    forget_targets(wished);
    forget_targets(present);
    const auto wish = sys::lustre_wish(wished);
    if (!present.empty() && present.no_wish == nullptr && wish == sys::lustre_wish(present)) return {};
    return target.set_attribute(sys::layout_attribute, value_of(wish));
}

}  // namespace forebay::tree

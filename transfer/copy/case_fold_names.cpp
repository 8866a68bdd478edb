#include "transfer/copy/case_fold_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/show_text.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

std::uint64_t hash_of(std::string_view name) { return siphash({}, bytes_of(name)); }

// The target has one entry for both names: `there` stays.
Error taken_for_one(const std::string& there, const std::string& name) {
    return {ErrorKind::refused, fmt::format("the target's names ignore case: \"{}\" exists, so \"{}\" is not copied",
                                            show_text(there), show_text(name))};
}

sys::CaseFolding folding_of(DirNode& dir_node, sys::Folder& folder) {
    if (dir_node.parent &&
        dir_node.parent->status(TreeSide::target).id.device == dir_node.status(TreeSide::target).id.device)
        if (const auto above = dir_node.parent->name_case.folding.load(); above != sys::CaseFolding::unknown)
            return above;
    const auto about = folder.file_system();
    return about ? about->case_folding : sys::CaseFolding::never;
}

}  // namespace

// Letters beyond ASCII are dropped: each file system folds them by its own rules.
std::string key_of_name_fold(std::string_view name) {
    std::string key;
    for (const char letter : name) {
        if (static_cast<unsigned char>(letter) >= 0x80) continue;
        key += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    return key;
}

Result<> check_spelling(DirNode& dir_node, sys::Folder& folder, const std::string& name) {
    auto* case_fold_names = CaseFoldNames::of(dir_node, folder);
    if (case_fold_names == nullptr) return {};
    FB_TRY_ASSIGN(spelling, case_fold_names->spelling_of(folder, name));
    if (spelling && *spelling != name) return taken_for_one(*spelling, name);
    return {};
}

// A new directory inherits the folding of its parent.
CaseFoldNames* CaseFoldNames::of(DirNode& dir_node, sys::Folder& folder) {
    std::call_once(dir_node.name_case.asked, [&] {
        const auto folding = folding_of(dir_node, folder);
        const bool as_above = dir_node.was_made && dir_node.parent &&
                              dir_node.parent->name_case.folding.load() != sys::CaseFolding::unknown;
        if (folding == sys::CaseFolding::always ||
            (folding == sys::CaseFolding::by_folder &&
             (as_above ? dir_node.parent->name_case.case_fold_names != nullptr : folder.folds_case())))
            dir_node.name_case.case_fold_names = std::make_shared<CaseFoldNames>();
        dir_node.name_case.folding = folding;
    });
    return dir_node.name_case.case_fold_names.get();
}

Result<std::optional<std::string>> CaseFoldNames::spelling_of(sys::Folder& folder, const std::string& name) {
    const auto existing = folder.status_of(name);
    if (!existing && existing.error().kind != ErrorKind::missing) return existing.error();
    if (!existing) return std::optional<std::string>();
    const std::lock_guard lock(mutex_);
    FB_TRY_ASSIGN(spelling, look(folder, name, *existing));
    return std::optional(spelling);
}

Result<std::string> CaseFoldNames::look(sys::Folder& folder, const std::string& name,
                                        const sys::EntryStatus& existing) {
    if (!was_listed_) {
        FB_TRY(folder.list([&](std::span<const sys::NamedEntry> names) -> Result<> {
            for (const auto& entry : names) listed_.push_back(hash_of(entry.name));
            return {};
        }));
        std::ranges::sort(listed_);
        was_listed_ = true;
    }
    if (std::ranges::binary_search(listed_, hash_of(name))) return name;
    // The entry is new, or has another spelling. Spellings may differ much: FAT has short names beside long names. So
    // the second round looks at all names.
    std::optional<std::string> spelling;
    for (const bool looks_at_all : {false, true}) {
        FB_TRY(folder.list([&](std::span<const sys::NamedEntry> names) -> Result<> {
            for (const auto& entry : names) {
                if (entry.name == name) spelling = name;
                if (spelling || (!looks_at_all && key_of_name_fold(entry.name) != key_of_name_fold(name))) continue;
                const auto other = folder.status_of(std::string(entry.name));
                if (other && other->id == existing.id) spelling = entry.name;
            }
            return {};
        }));
        if (spelling) return *spelling;
    }
    return Error{ErrorKind::retry, "the target has an entry of this name but does not list it"};
}

Result<> CaseFoldNames::rename(sys::Folder& folder, const std::string& temporary, const std::string& name) {
    const auto renamed = folder.rename_new(temporary, name);
    if (renamed || renamed.error().kind != ErrorKind::refused) return renamed;
    FB_TRY_ASSIGN(spelling, spelling_of(folder, name));
    if (!spelling) return renamed;
    if (*spelling != name) return taken_for_one(*spelling, name);
    return folder.rename(temporary, name);
}

Result<bool> CaseFoldNames::claim(sys::Folder& folder, sys::Folder& source, const std::string& name,
                                  const sys::EntryStatus& existing, const std::string& temporary, bool is_dry) {
    const std::lock_guard lock(mutex_);
    FB_TRY_ASSIGN(spelling, look(folder, name, existing));
    if (spelling == name) return false;
    const auto in_source = source.status_of(spelling);
    if (!in_source && in_source.error().kind != ErrorKind::missing) return in_source.error();
    if (in_source) return taken_for_one(spelling, name);
    // Two renames are needed. A kill between them would leave the whole directory under a temporary name.
    if (existing.kind == sys::EntryKind::folder)
        return Error{ErrorKind::refused,
                     fmt::format("the target has the directory \"{}\", whose name differs only in case, and the source "
                                 "does not. Rename it there to another name first, then to this name",
                                 show_text(spelling))};
    if (is_dry) return true;
    static_cast<void>(folder.remove(temporary));  // of a killed run
    FB_TRY(folder.rename(name, temporary));
    const auto renamed = folder.rename_new(temporary, name);
    // On failure the old spelling comes back.
    if (!renamed) static_cast<void>(folder.rename_new(temporary, spelling));
    FB_TRY(renamed);
    return false;
}

}  // namespace forebay::tree

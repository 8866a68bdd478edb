#include "core/sys/store.hpp"

#include <fmt/format.h>

#include "core/base/bytes.hpp"
#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"

namespace forebay::sys {

namespace {

Result<> write_and_sync(Store& store, const std::string& path, std::string_view text) {
    FB_TRY_ASSIGN(file, store.open(path, Access::create));
    FB_TRY(file->write(0, bytes_of(text)));
    FB_TRY(file->sync());
    return file->close();
}

}  // namespace

std::string temporary_beside(const std::string& path) {
    // In the same directory, so that a rename stays inside one file system; with a dot, so that readers skip it.
    return fmt::format("{}/.{}.{}-{:016x}.tmp", directory_of(path), leaf_of(path), process_id(), random_u64());
}

bool is_temporary(std::string_view name) {
    constexpr std::string_view digits = "0123456789", hex_digits = "0123456789abcdef", suffix = ".tmp";
    constexpr std::size_t random_digits = 16;
    if (!name.starts_with('.') || !name.ends_with(suffix)) return false;
    name.remove_suffix(suffix.size());
    const auto dash = name.find_last_not_of(hex_digits);
    if (dash == std::string_view::npos || name[dash] != '-' || name.size() - dash - 1 != random_digits) return false;
    name = name.substr(0, dash);
    const auto dot = name.find_last_not_of(digits);
    return dot != std::string_view::npos && dot > 1 && name[dot] == '.' && dot + 1 < name.size();
}

Result<> Store::make_striped(const std::string& path, const Stripes&) {
    return Error{ErrorKind::unsupported, "there is no choice of storage targets for " + path};
}

Result<std::string> read_text(Store& store, const std::string& path, std::uint64_t bytes_max) {
    FB_TRY_ASSIGN(file, store.open(path, Access::read));
    FB_TRY_ASSIGN(size, file->size());
    if (size > bytes_max)
        return Error{ErrorKind::corrupt, fmt::format("{} has {} bytes; the limit is {}", path, size, bytes_max)};
    std::string text(size, '\0');
    FB_TRY(file->read(0, std::as_writable_bytes(std::span(text))));
    return text;
}

Result<> write_text_durable(Store& store, const std::string& path, std::string_view text,
                            const std::function<Result<>()>& last_look) {
    const std::string temporary = temporary_beside(path);
    auto written = write_and_sync(store, temporary, text);
    if (written && last_look) written = last_look();
    if (written) written = store.rename(temporary, path);
    if (!written) {
        // A rename that was cut may have given the file its name already.
        const auto name =
            second_name(store, temporary, [&](const Entry& entry) { return entry.name == leaf_of(path); });
        if (name && *name) return store.sync_directory(directory_of(path));
        Error error = written.error();
        error.what += fmt::format("; {} is unchanged", path);
        if (const auto removed = store.remove(temporary); !removed)
            error.what += fmt::format("; left behind: {} ({})", temporary, removed.error().what);
        return error;
    }
    // The new name is durable only after this sync.
    return store.sync_directory(directory_of(path));
}

Result<> make_directories_durable(Store& store, const std::string& path) {
    std::vector<std::string> parents;  // of directories that will be made
    for (std::string at = path; at != "." && at != "/"; at = directory_of(at)) {
        FB_TRY_ASSIGN(exists, store.exists(at));
        if (exists) break;
        parents.push_back(directory_of(at));
    }
    FB_TRY(store.make_directories(path));
    // A new name is durable only after a sync of its parent.
    for (const auto& parent : parents) FB_TRY(store.sync_directory(parent));
    return {};
}

Result<> make_directories_below(Store& store, const std::string& root, const std::string& path) {
    if (path.size() <= root.size()) return {};
    // The deepest directory first: usually only it is missing.
    const auto outcome = store.make_directory(path);
    if (outcome || outcome.error().kind != ErrorKind::missing) return outcome;
    const auto parent = directory_of(path);
    if (parent == root) return outcome;
    FB_TRY(make_directories_below(store, root, parent));
    return store.make_directory(path);
}

Result<std::optional<std::string>> second_name(Store& store, const std::string& path,
                                               const std::function<bool(const Entry&)>& counts) {
    const std::optional<std::string> none;
    const auto id = store.id_for_cut_renames(path);
    if (!id && id.error().kind == ErrorKind::missing) return none;
    FB_TRY(id);
    if (!*id) return none;
    const auto directory = directory_of(path), own_name = leaf_of(path);
    FB_TRY_ASSIGN(entries, store.list(directory));
    for (const auto& entry : entries) {
        if (entry.name == own_name || entry.is_link || !counts(entry)) continue;
        const auto other = store.id_for_cut_renames(directory + "/" + entry.name);
        if (!other && other.error().kind == ErrorKind::missing) continue;
        FB_TRY(other);
        if (*other == *id) return std::optional(directory + "/" + entry.name);
    }
    return none;
}

Result<> remove_unless_renamed(Store& store, const std::string& path) {
    FB_TRY_ASSIGN(name, second_name(store, path, [](const Entry&) { return true; }));
    return name ? Result<>() : store.remove(path);
}

Result<> remove_tree_at_once(Store& store, const std::string& path) {
    const auto gone = path + ".gone";
    // An earlier crash may have left it, and a rename does not replace a directory with entries.
    FB_TRY(store.remove_tree(gone));
    const auto renamed = store.rename(path, gone);
    if (!renamed && renamed.error().kind == ErrorKind::missing) return {};
    FB_TRY(renamed);
    return store.remove_tree(gone);
}

}  // namespace forebay::sys

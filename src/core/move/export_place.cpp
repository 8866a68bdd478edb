#include "core/move/export_place.hpp"
#include "core/base/path.hpp"
#include "core/base/try.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace forebay::move {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef", digits = "0123456789";
constexpr std::size_t id_digits = 16;

bool take(std::string_view& text, std::string_view begin) {
    if (!text.starts_with(begin)) return false;
    text.remove_prefix(begin.size());
    return true;
}

bool take_number(std::string_view& text) {
    const auto count = std::min(text.find_first_not_of(digits), text.size());
    text.remove_prefix(count);
    return count > 0;
}

/// ".journal" or ".journal-3-of-8".
bool take_journal(std::string_view& text) {
    if (!take(text, ".journal")) return false;
    return !take(text, "-") || (take_number(text) && take(text, "-of-") && take_number(text));
}

struct Beside {
    std::string id;
    bool is_part = false;  // else a journal of it, or the rest of an unfinished journal after a kill
};

/// Empty for names that no export makes, such as the pieces of split(1) with a prefix from the user.
std::optional<Beside> beside_of(const std::string& name, const std::string& prefix) {
    std::string_view rest = name;
    const bool is_temporary = sys::is_temporary(name);
    if (is_temporary) rest.remove_prefix(1);
    if (!take(rest, prefix) || rest.size() < id_digits) return std::nullopt;
    const auto id = rest.substr(0, id_digits);
    if (id.find_first_not_of(hex_digits) != std::string_view::npos) return std::nullopt;
    rest.remove_prefix(id_digits);
    const bool is_part = rest.empty() && !is_temporary;
    const bool is_journal = !is_part && take_journal(rest) && (is_temporary ? rest.starts_with('.') : rest.empty());
    if (!is_part && !is_journal) return std::nullopt;
    return Beside{std::string(id), is_part};
}

}  // namespace

Result<> put_in_place(sys::Store& store, const std::string& part_path, const std::string& path) {
    // The new name is durable only after this sync.
    FB_TRY(store.rename(part_path, path));
    return store.sync_directory(directory_of(path));
}

Result<> check_target(sys::Store& store, const std::string& path, bool replace, const std::string& stays) {
    const auto directory = directory_of(path);
    FB_TRY_ASSIGN(is_there, store.exists(directory));
    if (!is_there)
        return Error{ErrorKind::missing,
                     fmt::format("the directory of {}, {}, does not exist; {}", path, directory, stays), "",
                     fmt::format("mkdir -p {}", directory)};
    FB_TRY_ASSIGN(exists, store.exists(path));
    if (!exists) return {};
    // Only directories can be listed.
    if (store.list(path))
        return Error{ErrorKind::refused,
                     fmt::format("{} is a directory, and a file cannot replace it; {}", path, stays), "",
                     fmt::format("give the name of a file, as in {}/out.h5", path)};
    if (replace) return {};
    return Error{ErrorKind::refused, fmt::format("{} exists already; {}", path, stays), "",
                 "give --force to replace it when the new file is whole, or choose another name"};
}

Result<std::vector<std::string>> discard_stale(sys::Store& store, const std::string& path, const std::string& part_path,
                                               std::uint64_t file_bytes, bool replace) {
    const auto directory = directory_of(path);
    const auto prefix = std::filesystem::path(path).filename().string() + ".part-";
    const auto own_id = std::filesystem::path(part_path).filename().string().substr(prefix.size());
    FB_TRY_ASSIGN(entries, store.list(directory));
    std::vector<std::pair<std::string, Beside>> candidates;
    bool goes_on = false;
    // Looks at all entries before it removes any: a refusal changes nothing.
    for (const auto& entry : entries) {
        const auto beside = entry.is_directory ? std::nullopt : beside_of(entry.name, prefix);
        if (!beside) continue;
        const bool is_own = beside->id == own_id;
        if (beside->is_part && !is_own && !replace)
            return Error{ErrorKind::refused,
                         fmt::format("{}/{} is an unfinished or active export to {} of other snapshots or with other "
                                     "options. Nothing was written",
                                     directory, entry.name, path),
                         "all existing files",
                         "if no export is active, remove it with --force. Or choose another name"};
        goes_on |= beside->is_part && is_own && entry.size == file_bytes;
        candidates.emplace_back(entry.name, *beside);
    }
    std::vector<std::string> notes;
    bool any_removed = false;
    for (const auto& [name, beside] : candidates) {
        const bool is_own = beside.id == own_id;
        // A half-written journal from before a kill is of no use to anybody.
        if (is_own && goes_on && !sys::is_temporary(name)) continue;
        FB_TRY(store.remove(directory + "/" + name));
        any_removed = true;
        if (!beside.is_part) continue;
        notes.push_back(is_own ? fmt::format("{} was changed since the last export: this export begins anew", part_path)
                               : fmt::format("an unfinished export to {} was of other snapshots or had other options: "
                                             "it is removed, and this one begins anew",
                                             path));
    }
    // After a power cut an old journal could come back, and vouch for data that the new part does not have.
    if (any_removed) FB_TRY(store.sync_directory(directory));
    return notes;
}

Result<> check_part(sys::Store& store, const std::string& path, const std::string& part_path,
                    std::uint64_t file_bytes) {
    std::string state = "does not exist any more";
    FB_TRY_ASSIGN(exists, store.exists(part_path));
    if (exists) {
        FB_TRY_ASSIGN(file, store.open(part_path, sys::Access::read));
        FB_TRY_ASSIGN(size, file->size());
        if (size == file_bytes) return {};
        state = fmt::format("has {} bytes, {} expected", size, file_bytes);
    }
    return Error{
        ErrorKind::retry,
        fmt::format(
            "{} was not exported: {} {}. Another export to the same name finished it, removed it or began it anew",
            path, part_path, state),
        fmt::format("the snapshots, and the file at {}", path),
        "repeat the same command when no other export to this name is active"};
}

}  // namespace forebay::move

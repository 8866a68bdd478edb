#include "path/catalog/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"

namespace forebay::catalog {

namespace {

namespace fs = std::filesystem;

/// Any directory may be called step-000120 or hold a file with the name of our manifests. An unreadable directory
/// counts as a snapshot.
bool is_snapshot(sys::Store& store, const fs::path& directory) {
    const auto is_committed = [&](const std::string& path) {
        const auto exists = store.exists(path + "/" + manifest_name);
        if (!exists || !*exists) return !exists;
        const auto manifest = load_manifest(store, path);
        return manifest || manifest.error().kind != ErrorKind::corrupt;  // it may be of a newer version
    };
    if (leftover_of(directory.filename().string()) || is_committed(directory.string())) return true;
    if (!step_of(directory.filename().string())) return false;
    const auto stream = directory.parent_path().string();
    const auto beside = store.list(stream);
    return !beside || std::ranges::any_of(*beside, [&](const sys::Entry& entry) {
        return entry.is_directory && step_of(entry.name) && is_committed(stream + "/" + entry.name);
    });
}

}  // namespace

Result<> check_output(sys::Store& store, const std::string& path, std::span<const std::string> files) {
    const auto refusal = [&](const std::string& why, const char* next) {
        return Error{ErrorKind::refused, fmt::format("{} {}. Nothing was written", path, why), "all existing data",
                     next};
    };
    std::error_code error;
    const auto whole = fs::absolute(path, error);
    // Resolve the links of the parent directory only: the file itself need not exist.
    const auto place = error ? fs::path() : fs::weakly_canonical(whole.parent_path(), error);
    if (error) return refusal(fmt::format("cannot be found: {}", error.message()), "choose another directory");
    for (auto at = place; at.has_relative_path(); at = at.parent_path())
        if (is_snapshot(store, at))
            return refusal(
                fmt::format("would be in {}, the directory of a snapshot, and be removed with it", at.string()),
                "choose another directory");
    for (const auto& file : files) {
        std::error_code absent;
        if (fs::equivalent(path, file, absent))
            return refusal(fmt::format("leads to {}, which is its input", file), "choose another name");
    }
    return {};
}

}  // namespace forebay::catalog

#include "catalog/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "catalog/catalog.hpp"
#include "catalog/names.hpp"

namespace forebay::catalog {

namespace {

namespace fs = std::filesystem;

/// Whether a directory has a name of ours among committed snapshots; anybody's may be called step-000120. What cannot
/// be looked at is taken for a snapshot.
bool is_of_a_run(sys::Store& store, const fs::path& directory) {
    if (leftover_of(directory.filename().string())) return true;
    if (!step_of(directory.filename().string())) return false;
    const auto stream = directory.parent_path().string();
    const auto entries = store.list(stream);
    if (!entries) return true;
    return std::ranges::any_of(*entries, [&](const sys::Entry& entry) {
        if (!entry.is_directory || !step_of(entry.name)) return false;
        const auto committed = store.exists(stream + "/" + entry.name + "/" + manifest_name);
        return !committed || *committed;
    });
}

}  // namespace

Result<> check_output(sys::Store& store, const std::string& path, std::span<const std::string> directories,
                      std::span<const std::string> files) {
    const auto refusal = [&](const std::string& why, const char* next) {
        return Error{ErrorKind::refused, fmt::format("forebay: {} {}; nothing was written.\n  Safe: what is there.\n"
                                                     "  Next: {}",
                                                     path, why, next)};
    };
    std::error_code error;
    const auto whole = fs::absolute(path, error);
    const auto place = error ? fs::path() : fs::weakly_canonical(whole.parent_path(), error);
    if (error) return refusal(fmt::format("is not to be found: {}", error.message()), "another directory");
    for (auto at = place; at.has_relative_path(); at = at.parent_path()) {
        const bool is_source = std::ranges::any_of(directories, [&](const std::string& directory) {
            std::error_code absent;  // then it is not where the file would be
            return fs::weakly_canonical(directory, absent) == at;
        });
        if (is_source || is_of_a_run(store, at))
            return refusal(
                fmt::format("would stand in {}, the directory of a snapshot, which goes with all in it", at.string()),
                "another directory");
    }
    for (const auto& file : files) {
        std::error_code absent;
        if (fs::equivalent(path, file, absent))
            return refusal(fmt::format("leads to {}, which it would be made of", file), "another name");
    }
    return {};
}

}  // namespace forebay::catalog

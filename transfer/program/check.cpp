#include "transfer/program/check.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/far_module.hpp"
#include "transfer/program/report.hpp"

namespace forebay::cli {

namespace {

namespace fs = std::filesystem;

std::string kind_text(fs::file_type type) {
    switch (type) {
        case fs::file_type::directory: return "a directory";
        case fs::file_type::regular: return "a file";
        case fs::file_type::fifo: return "a fifo";
        case fs::file_type::socket: return "a socket";
        case fs::file_type::character:
        case fs::file_type::block: return "a device";
        default: return "no directory";
    }
}

std::string above(const fs::path& place) {
    const auto named = place.has_filename() ? place : place.parent_path();  // "x/" is x
    return named.has_parent_path() ? named.parent_path().string() : ".";
}

bool is_link_to_nothing(const std::string& place) {
    std::error_code none;
    return fs::is_symlink(place, none) && fs::status(place, none).type() == fs::file_type::not_found;
}

Error link_to_nothing(std::string_view word, const std::string& place, ErrorKind kind, const std::string& next) {
    std::error_code none;
    return {kind,
            fmt::format("{} {} is a symbolic link to {}, which does not exist", word, show_text(place),
                        show_text(fs::read_symlink(place, none).string())),
            "nothing was changed", next};
}

Error missing(std::string_view word, const std::string& place) {
    std::error_code none;
    std::string name = place, folder = above(place);
    while (folder != "." && folder != name && !fs::exists(folder, none)) {
        name = folder;
        folder = above(name);
    }
    const auto leaf =
        fs::path(name).has_filename() ? fs::path(name).filename() : fs::path(name).parent_path().filename();
    return {ErrorKind::missing,
            fmt::format("{} {} does not exist: {} has no {}", word, show_text(place), show_text(folder),
                        show_text(leaf.string())),
            "nothing was changed", fmt::format("correct the path, or mount it: ls {}", show_text(folder))};
}

// The path below the tree, "" for the tree itself; nothing if it is outside.
std::optional<std::string> path_in(const fs::path& file, const fs::path& tree) {
    std::error_code none;
    if (file == fs::weakly_canonical(tree, none)) return "";
    for (auto at = file;; at = at.parent_path()) {
        if (fs::equivalent(at, tree, none)) return at == file ? "" : file.lexically_relative(at).string();
        if (at == at.parent_path()) return std::nullopt;
    }
}

fs::path real(const std::string& path) {
    std::error_code none;
    return fs::weakly_canonical(fs::absolute(path, none), none);
}

Result<> check_outside(const SideFile& file, std::string_view tree, tree::EntryFilter* filter) {
    const auto path = path_in(real(file.path), fs::path(tree));
    if (!path) return {};
    const auto shown = show_text(file.path);
    if (path->empty())
        return Error{ErrorKind::refused,
                     fmt::format("{} {} is the source or target of the command", file.option, shown),
                     "nothing was changed", "choose another path"};
    if (filter != nullptr && !filter->takes(*path, sys::EntryKind::file)) {
        const auto leaf = std::string(until_whole) + fs::path(*path).filename().string();
        filter->exclude.push_back("/" + fs::path(*path).replace_filename(leaf).string());
        return {};
    }
    return Error{
        ErrorKind::refused,
        fmt::format("{} {} lies in {}, and would become one of its entries", file.option, shown, show_text(tree)),
        "nothing was changed",
        filter == nullptr ? "choose a path outside of it"
                          : fmt::format("choose a path outside of it, or exclude it: --exclude {}",
                                        show_text(fs::path(*path).filename().string()))};
}

}  // namespace

Result<> check_tree(std::string_view word, const std::string& place, bool takes_file) {
    if (sys::is_far(place)) return {};
    std::error_code none;
    const auto type = fs::status(place, none).type();
    if (type == fs::file_type::directory || (takes_file && type == fs::file_type::regular)) return {};
    if (type == fs::file_type::none || type == fs::file_type::unknown) return {};  // opening it reports the reason
    if (type == fs::file_type::not_found && is_link_to_nothing(place))
        return link_to_nothing(word, place, ErrorKind::missing, "correct the link, or mount its place");
    if (type == fs::file_type::not_found) return missing(word, place);
    return Error{ErrorKind::refused,
                 fmt::format("{} {} is {}, and must be a directory{}", word, show_text(place), kind_text(type),
                             takes_file ? " or a file" : ""),
                 "nothing was changed", fmt::format("give the directory above it: {}", show_text(above(place)))};
}

Result<> check_present(const std::string& place) {
    std::error_code none;
    if (sys::is_far(place) || fs::symlink_status(place, none).type() != fs::file_type::not_found) return {};
    return missing("DIRECTORY", place);
}

Result<> check_target(const std::string& place) {
    if (sys::is_far(place)) return {};
    std::error_code none;
    const auto type = fs::status(place, none).type();
    if (type == fs::file_type::not_found && is_link_to_nothing(place))
        return link_to_nothing("TARGET", place, ErrorKind::refused,
                               "make the directory of the link, or remove the link");
    if (type == fs::file_type::directory || type == fs::file_type::not_found || type == fs::file_type::none ||
        type == fs::file_type::unknown)
        return {};
    return Error{
        ErrorKind::refused,
        fmt::format("TARGET {} is {}, and must be a directory or must not exist", show_text(place), kind_text(type)),
        "nothing was changed", "give another TARGET. SOURCE comes first"};
}

Result<> check_path_list(const std::string& list, const std::string& source, const std::string& target) {
    std::error_code none;
    if (list.empty()) return {};
    const bool is_there = fs::exists(list, none);
    if (list == "-" || (is_there && !fs::is_regular_file(list, none) && !fs::is_directory(list, none)))
        return Error{ErrorKind::refused, fmt::format("--files-from {} is not a file", show_text(list)),
                     "nothing was changed", "find ... > LIST, then --files-from LIST"};
    if (!is_there)
        return Error{ErrorKind::missing, fmt::format("--files-from {} does not exist", show_text(list)),
                     "nothing was changed", "correct the path of the list"};
    if (!fs::is_directory(list, none)) return {};
    const bool are_swapped = fs::is_regular_file(source, none);
    return Error{
        ErrorKind::refused,
        fmt::format("--files-from {} is a directory{}, and must be a file with one path a line", show_text(list),
                    are_swapped ? fmt::format(" and SOURCE {} a file", show_text(source)) : ""),
        "nothing was changed",
        are_swapped
            ? fmt::format("forebay copy {} {} --files-from {}", show_text(list), show_text(target), show_text(source))
            : ""};
}

Result<> check_side_files(std::initializer_list<SideFile> files, std::initializer_list<std::string_view> trees,
                          tree::EntryFilter* filter) {
    for (const auto& file : files) {
        if (file.path.empty()) continue;
        for (const auto& other : files)
            if (&other != &file && !other.path.empty() && real(other.path) == real(file.path))
                return Error{
                    ErrorKind::refused,
                    fmt::format("{} and {} are the same file: {}", file.option, other.option, show_text(file.path)),
                    "nothing was changed", "choose another path for one option"};
        for (const auto tree : trees)
            if (!file.may_lie_in_tree && !tree.empty() && !sys::is_far(tree)) FB_TRY(check_outside(file, tree, filter));
    }
    return {};
}

}  // namespace forebay::cli

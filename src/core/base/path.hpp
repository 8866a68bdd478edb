// The parts of a path, by its last slash. Nothing is looked up.

#pragma once

#include <string>
#include <string_view>

namespace forebay {

/// What stands before the last slash: "fields" of "fields/u", "" of "u".
inline std::string parent_of(std::string_view path) {
    const auto slash = path.rfind('/');
    return std::string(slash == path.npos ? std::string_view() : path.substr(0, slash));
}

/// What stands behind the last slash: "u" of "fields/u" and of "u".
inline std::string leaf_of(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

/// The directory that holds a file: "run" of "run/a", "/" of "/a", "." of "a".
inline std::string directory_of(std::string_view path) {
    const auto slash = path.rfind('/');
    if (slash == path.npos) return ".";
    return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

}  // namespace forebay

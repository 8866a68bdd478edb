// The parts of a path, by its last slash. Nothing is looked up.

#pragma once

#include <string>
#include <string_view>

namespace forebay {

/// The part before the last slash: "fields" for "fields/u", "" for "u".
inline std::string parent_of(std::string_view path) {
    const auto slash = path.rfind('/');
    return std::string(slash == path.npos ? std::string_view() : path.substr(0, slash));
}

/// The part behind the last slash: "u" for "fields/u" and for "u".
inline std::string leaf_of(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

/// The directory of a file: "run" for "run/a", "/" for "/a", "." for "a".
inline std::string directory_of(std::string_view path) {
    const auto slash = path.rfind('/');
    if (slash == path.npos) return ".";
    return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

}  // namespace forebay

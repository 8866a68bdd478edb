#include <algorithm>

#include "core/base/show_text.hpp"
#include "transfer/archive/head.hpp"

namespace forebay::archive {

Result<std::string> clean_path(std::string_view path) {
    const auto refused = [&](const char* why) {
        return Error{ErrorKind::refused,
                     "\"" + show_text(path.substr(0, 1000)) + "\" " + why + ": the entry is not restored"};
    };
    if (path.empty()) return Error{ErrorKind::refused, "an entry has no name: it is not restored"};
    if (path.find('\0') != path.npos) return refused("has a zero byte");
    std::string clean;
    while (!path.empty()) {
        const auto name = path.substr(0, path.find('/'));
        const auto rest = path;
        path.remove_prefix(std::min(path.size(), name.size() + 1));
        if (name.empty() || name == ".") continue;
        if (name == "..") {
            path = rest;
            return refused("leads upwards with \"..\"");
        }
        if (!clean.empty()) clean += '/';
        clean += name;
    }
    return clean.empty() ? "." : clean;
}

}  // namespace forebay::archive

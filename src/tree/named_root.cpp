#include "tree/named_root.hpp"

#include "base/path.hpp"
#include "base/show_text.hpp"
#include "base/try.hpp"

namespace forebay::tree {

Result<NamedRoot> open_above(const std::string& path) {
    const auto end = path.find_last_not_of('/');
    const auto own = path.substr(0, end == path.npos ? 0 : end + 1);
    auto name = leaf_of(own);
    if (name.empty() || name == "." || name == "..")
        return Error{ErrorKind::refused, "\"" + show_text(path) + "\" does not end with a directory's own name"};
    FB_TRY_ASSIGN(opened, sys::open_posix_folder(directory_of(own)));
    return NamedRoot{.above = std::move(opened), .name = std::move(name)};
}

}  // namespace forebay::tree

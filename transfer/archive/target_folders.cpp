#include "transfer/archive/target_folders.hpp"

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "transfer/copy/case_fold_names.hpp"

namespace forebay::archive {

void TargetFolders::leave(const tree::DirNode* until) {
    folder_.reset();
    while (at_ && at_.get() != until && at_->parent) {
        use_.folders.close(*at_);
        auto above = at_->parent;
        at_ = std::move(above);
    }
}

Result<TargetFolders::Place> TargetFolders::reach(std::string_view path) {
    if (path == ".") path = {};
    // Leave directories up to the deepest common parent.
    while (!path_.empty() && !(path.starts_with(path_) && (path.size() == path_.size() || path[path_.size()] == '/'))) {
        leave(at_->parent.get());
        path_ = parent_of(path_);
    }
    auto rest = path.substr(path_.size());
    bool was_made = false;
    while (!rest.empty()) {
        if (rest.front() == '/') rest.remove_prefix(1);
        const std::string name(rest.substr(0, rest.find('/')));
        rest.remove_prefix(name.size());
        FB_TRY_ASSIGN(below, enter(name));
        at_ = std::move(below);
        folder_.reset();
        path_ += (path_.empty() ? "" : "/") + name;
        was_made = at_->was_made;
    }
    if (!folder_) {
        FB_TRY_ASSIGN(folder, use_.folders.get(at_, tree::TreeSide::target));
        folder_ = folder;
    }
    return Place{.dir_node = at_, .folder = folder_, .was_made = was_made};
}

Result<tree::CopyEntry> TargetFolders::entry(std::string_view path) {
    FB_TRY_ASSIGN(place, reach(parent_of(path)));
    return tree::CopyEntry{
        .dir_node = place.dir_node, .source = nullptr, .target = place.folder, .name = leaf_of(path)};
}

Result<tree::DirNodeRef> TargetFolders::enter(const std::string& name) {
    FB_TRY_ASSIGN(above, use_.folders.get(at_, tree::TreeSide::target));
    tree::CaseFoldNames::of(*at_, *above);
    const auto dir_node = std::make_shared<tree::DirNode>(at_, name);
    const auto outcome = above->make_folder(name, tree::while_filled);
    if (!outcome && outcome.error().kind != ErrorKind::refused) return outcome.error();
    if (!outcome) FB_TRY(tree::check_spelling(*at_, *above, name));
    auto opened = above->open_folder(name);
    if (!opened)
        return with_context(opened.error(),
                            show_text(path_of(*dir_node)) +
                                " is not a directory at the target that the restore may fill: " + opened.error().what);
    const tree::FolderRef folder = std::move(*opened);
    if (outcome) use_.new_entries.mark_unfinished(*folder);
    FB_TRY_ASSIGN(status, folder->status());
    dir_node->status(tree::TreeSide::target) = status;
    dir_node->was_made = outcome.has_value();
    if (outcome) use_.publisher.record(tree::EntryEvent::copied, *at_, name);
    tree::CaseFoldNames::of(*dir_node, *folder);
    if (outcome && !reader_->is_ours()) FB_TRY(created_.append(path_of(*dir_node)));
    if (outcome && at_->seen.gives_acl) {
        FB_TRY(folder->remove_attribute(tree::default_acl));
        FB_TRY(folder->remove_attribute(tree::access_acl));
    } else if (!outcome) {
        FB_TRY_ASSIGN(gives_acl, tree::has_default_acl(*folder));
        dir_node->seen.gives_acl = gives_acl;
        if (lends_) FB_TRY(tree::lend_permissions(*dir_node, *folder, use_.new_entries.owner().user));
    }
    use_.folders.keep(dir_node, tree::TreeSide::target, folder);
    return dir_node;
}

}  // namespace forebay::archive

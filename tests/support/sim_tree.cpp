#include "support/sim_tree.hpp"

#include <functional>

#include "core/base/try.hpp"

namespace forebay::test {

namespace {

Error missing(const std::string& name) { return {ErrorKind::missing, "no " + name}; }

template <class Base>
class SimEntry : public Base {
public:
    SimEntry(SimTree& tree, NodePtr node) : tree_(tree), node_(std::move(node)) {}
    Result<sys::EntryStatus> status() override {
        FB_TRY(tree_.power());
        return tree_.status_of(node_);
    }
    Result<std::vector<std::string>> attribute_names() override {
        std::vector<std::string> names;
        for (const auto& [name, value] : node_->attributes) names.push_back(name);
        return names;
    }
    Result<std::string> attribute(const std::string& name) override {
        const auto attribute = node_->attributes.find(name);
        return attribute == node_->attributes.end() ? Result<std::string>(missing(name)) : attribute->second;
    }
    Result<> set_attribute(const std::string& name, const std::string& value) override {
        return change([&] { node_->attributes[name] = value; });
    }
    Result<> remove_attribute(const std::string& name) override {
        return change([&] { node_->attributes.erase(name); });
    }
    Result<> set_owner(std::uint32_t user, std::uint32_t group) override {
        return change([&] { node_->about.user = user, node_->about.group = group; });
    }
    Result<> set_permissions(std::uint32_t permissions) override {
        return change([&] { node_->about.permissions = permissions; });
    }
    Result<> set_times(sys::FileTime accessed, sys::FileTime modified) override {
        return change([&] { node_->about.accessed = accessed, node_->about.modified = modified; });
    }

    const NodePtr& node() const { return node_; }

protected:
    Result<> change(const std::function<void()>& make) {
        FB_TRY(tree_.begin_change());
        make();
        node_->about.changed = tree_.tick();
        return {};
    }

    SimTree& tree_;
    NodePtr node_;
};

class SimTreeFile final : public SimEntry<sys::OpenFile> {
public:
    using SimEntry::SimEntry;
    Result<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> bytes) override {
        FB_TRY(tree_.power());
        const auto& held = node_->bytes;
        if (offset >= held.size()) return std::uint64_t{0};
        const auto count = std::min<std::uint64_t>(bytes.size(), held.size() - offset);
        std::copy_n(held.begin() + static_cast<std::ptrdiff_t>(offset), count, bytes.begin());
        return count;
    }
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        return change([&] {
            tree_.disk().write(*node_, offset, bytes, 0);
            node_->about.modified = tree_.tick();
        });
    }
    Result<> resize(std::uint64_t bytes) override {
        return change([&] { tree_.disk().cut(*node_, bytes, 0); });
    }
    Result<std::optional<sys::ByteStretch>> next_data(std::uint64_t offset) override {
        if (offset >= node_->bytes.size()) return std::optional<sys::ByteStretch>();
        return std::optional(sys::ByteStretch{offset, node_->bytes.size()});
    }
    Result<std::uint64_t> copy_from(sys::OpenFile&, std::uint64_t, std::uint64_t) override {
        return Error{ErrorKind::unsupported, "no copies by the kernel"};
    }
    Result<> sync() override {
        return change([&] { tree_.disk().sync_file(*node_, 0); });
    }
    void forget_cached() override {}
};

class SimFolder final : public SimEntry<sys::Folder> {
public:
    using SimEntry::SimEntry;

    Result<> list(const NameTaker& take) override {
        FB_TRY(tree_.power());
        const auto names = node_->names;
        std::vector<sys::NamedEntry> listed;
        for (const auto& [name, child] : names) listed.push_back({name, child->about.kind, child->about.id.number});
        if (listed.empty()) return {};
        return take(listed);
    }
    Result<sys::EntryStatus> status_of(const std::string& name) override {
        FB_TRY_ASSIGN(child, find(name));
        return tree_.status_of(child);
    }
    Result<std::string> link_text(const std::string& name) override {
        FB_TRY_ASSIGN(child, find(name));
        return child->link_text;
    }
    Result<std::vector<std::string>> attribute_names_of(const std::string& name) override {
        FB_TRY_ASSIGN(child, find(name));
        return SimEntry<sys::OpenEntry>(tree_, child).attribute_names();
    }
    Result<std::string> attribute_of(const std::string& name, const std::string& attribute_name) override {
        FB_TRY_ASSIGN(child, find(name));
        return SimEntry<sys::OpenEntry>(tree_, child).attribute(attribute_name);
    }
    Result<std::unique_ptr<sys::Folder>> open_folder(const std::string& name) override {
        FB_TRY_ASSIGN(child, find(name));
        if (!child->is_directory) return Error{ErrorKind::refused, name + " is no directory"};
        return std::unique_ptr<sys::Folder>(std::make_unique<SimFolder>(tree_, child));
    }
    Result<std::unique_ptr<sys::OpenFile>> open_file(const std::string& name) override {
        FB_TRY_ASSIGN(child, find(name));
        return std::unique_ptr<sys::OpenFile>(std::make_unique<SimTreeFile>(tree_, child));
    }
    Result<std::unique_ptr<sys::OpenFile>> reopen_file(const std::string& name) override { return open_file(name); }
    Result<std::unique_ptr<sys::OpenEntry>> open_entry(const std::string& name) override {
        FB_TRY_ASSIGN(child, find(name));
        return std::unique_ptr<sys::OpenEntry>(std::make_unique<SimEntry<sys::OpenEntry>>(tree_, child));
    }
    Result<std::unique_ptr<sys::OpenFile>> make_file(const std::string& name, std::uint32_t permissions) override {
        FB_TRY_ASSIGN(child, make(name, sys::EntryKind::file, permissions));
        return std::unique_ptr<sys::OpenFile>(std::make_unique<SimTreeFile>(tree_, child));
    }
    Result<> make_folder(const std::string& name, std::uint32_t permissions) override {
        FB_TRY(make(name, sys::EntryKind::folder, permissions));
        return {};
    }
    Result<> make_link(const std::string& name, const std::string& text) override {
        FB_TRY_ASSIGN(child, make(name, sys::EntryKind::link, 0777));
        child->link_text = text;
        return {};
    }
    Result<> make_special(const std::string& name, const sys::EntryStatus& like) override {
        FB_TRY(make(name, like.kind, 0600));
        return {};
    }
    Result<> make_hard_link(const std::string& name, sys::Folder& other, const std::string& other_name) override {
        FB_TRY_ASSIGN(child, dynamic_cast<SimFolder&>(other).find(other_name));
        FB_TRY(check_free(name));
        return change([&] { tree_.disk().add_name(node_, name, child); });
    }
    Result<> rename(const std::string& name, const std::string& new_name) override {
        FB_TRY_ASSIGN(child, find(name));
        const auto replaced = node_->names.find(new_name);
        if (replaced != node_->names.end() && replaced->second->is_directory)
            return Error{ErrorKind::refused, new_name + " is a directory"};
        return change([&] { tree_.disk().move_name(node_, name, node_, new_name); });
    }
    Result<> remove(const std::string& name) override {
        FB_TRY(find(name));
        return change([&] { tree_.disk().remove_name(node_, name); });
    }
    Result<> remove_folder(const std::string& name) override {
        FB_TRY_ASSIGN(child, find(name));
        if (!child->names.empty()) return Error{ErrorKind::refused, name + " is not empty"};
        return remove(name);
    }
    Result<sys::FileSystemTraits> file_system() override { return sys::FileSystemTraits{.outlives_power = true}; }
    Result<> sync_file_system() override {
        if (tree_.fails_syncs()) return Error{ErrorKind::retry, "the disk did not take the bytes"};
        return change([&] { tree_.settle(); });
    }
    Result<bool> lock_alone() override { return true; }
    Result<bool> lies_in(const sys::EntryId&) override { return false; }

private:
    Result<NodePtr> find(const std::string& name) {
        FB_TRY(tree_.power());
        const auto match = node_->names.find(name);
        return match == node_->names.end() ? Result<NodePtr>(missing(name)) : match->second;
    }
    Result<> check_free(const std::string& name) const {
        if (node_->names.contains(name)) return Error{ErrorKind::refused, name + " is taken"};
        return {};
    }
    Result<NodePtr> make(const std::string& name, sys::EntryKind kind, std::uint32_t permissions) {
        FB_TRY(check_free(name));
        const auto child = tree_.make_node(kind, permissions);
        FB_TRY(change([&] { tree_.disk().add_name(node_, name, child); }));
        return child;
    }
};

std::uint64_t names_of(const SimNode& folder, const SimNode& node) {
    std::uint64_t names = 0;
    for (const auto& [name, child] : folder.names) names += (child.get() == &node ? 1 : 0) + names_of(*child, node);
    return names;
}

}  // namespace

SimTree::SimTree(std::uint64_t device) : device_(device) { disk_.root()->about.kind = sys::EntryKind::folder; }

SimTree::SimTree(const SimTree& other)
    : disk_(other.disk_), device_(other.device_), last_number_(other.last_number_), seconds_(other.seconds_) {}

std::shared_ptr<sys::Folder> SimTree::folder(const std::string& name) {
    SimFolder root(*this, disk_.root());
    if (!disk_.root()->names.contains(name)) root.make_folder(name, 0755).value();
    return root.open_folder(name).value();
}

Result<> SimTree::power() const {
    if (crash_ && operations_ >= *crash_) return Error{ErrorKind::retry, "the power is cut"};
    return {};
}

Result<> SimTree::begin_change() {
    FB_TRY(power());
    ++operations_;
    return {};
}

NodePtr SimTree::make_node(sys::EntryKind kind, std::uint32_t permissions) {
    auto node = std::make_shared<SimNode>();
    node->is_directory = kind == sys::EntryKind::folder;
    node->about = {.kind = kind, .permissions = permissions, .id = {.device = device_, .number = ++last_number_}};
    node->about.modified = node->about.changed = tick();
    return node;
}

sys::EntryStatus SimTree::status_of(const NodePtr& node) const {
    auto status = node->about;
    status.bytes = status.allocated_bytes = node->bytes.size();
    status.names = std::max<std::uint64_t>(1, names_of(*disk_.root(), *node));
    return status;
}

}  // namespace forebay::test

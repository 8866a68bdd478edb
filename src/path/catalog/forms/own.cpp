// Each node has its own file. A file under its final name is durable.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/try.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/forms/file_form.hpp"

namespace forebay::catalog {

namespace {

class OwnForm final : public FileForm {
public:
    bool is_named(const std::string& name) const override { return name.starts_with("node-") && name.ends_with(".h5"); }

    Result<> look(sys::Store& store, const std::string& path, Arrived& arrived) const override {
        ++arrived.files;
        if (arrived.record) return {};
        FB_TRY_ASSIGN(reader, NodeReader::open(store, path));
        arrived.record = reader.peek().record;
        arrived.nodes = arrived.record->nodes;
        return {};
    }

    Result<std::optional<std::uint32_t>> absent(sys::Store& store, const std::string& directory,
                                                const WantedSnapshot& wanted) const override {
        std::string listed = "\n";  // no valid path: so the first node lists its directory
        std::vector<sys::Entry> entries;
        for (std::uint32_t node = 0; node < wanted.nodes; ++node) {
            const auto path = format::node_path(node, wanted.nodes);
            const auto slash = path.rfind('/');
            const auto folder = slash == std::string::npos ? std::string{} : path.substr(0, slash);
            // Nodes of one directory follow each other, so one list serves all of them.
            if (folder != listed) {
                auto listing = store.list(folder.empty() ? directory : fmt::format("{}/{}", directory, folder));
                if (!listing && listing.error().kind == ErrorKind::missing) return std::optional(node);
                if (!listing) return listing.error();
                entries = std::move(*listing);
                listed = folder;
            }
            const auto name = slash == std::string::npos ? path : path.substr(slash + 1);
            const auto entry = std::ranges::lower_bound(entries, name, {}, &sys::Entry::name);
            if (entry == entries.end() || entry->name != name) return std::optional(node);
        }
        return std::optional<std::uint32_t>{};
    }

    Result<> assemble(sys::Store& store, const std::string& directory, const WantedSnapshot& wanted,
                      const AddHead& add) const override {
        for (std::uint32_t node = 0; node < wanted.nodes; ++node) {
            const auto path = format::node_path(node, wanted.nodes);
            const auto name = fmt::format("{}/{}", directory, path);
            FB_TRY_ASSIGN(head, load_head(store, name));
            FB_TRY(add(head, node, path, name));
        }
        return {};
    }
};

}  // namespace

const FileForm& own_form() {
    static const OwnForm form;
    return form;
}

}  // namespace forebay::catalog

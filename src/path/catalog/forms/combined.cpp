// Several nodes share a file, with their whole node files side by side. If the last file would have only one node, this
// node has a file of its own.

#include <fmt/format.h>

#include "core/base/try.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/forms/file_form.hpp"
#include "path/catalog/forms/regions.hpp"

namespace forebay::catalog {

namespace {

class CombinedForm final : public FileForm {
public:
    bool is_named(const std::string& name) const override {
        return name.starts_with("nodes-") && name.ends_with(".h5");
    }

    Result<> look(sys::Store& store, const std::string& path, Arrived& arrived) const override {
        return look_at_regions(store, path, arrived);
    }

    // The search begins with the file of `look_first_at` and wraps around. If many are absent, it finds one soon. Each
    // agent begins with its own file, so the agents do not all read the same file.
    Result<std::optional<std::uint32_t>> absent(sys::Store& store, const std::string& directory,
                                                const WantedSnapshot& wanted) const override {
        const auto per_file = per_file_of(wanted);
        const auto files = (wanted.nodes + per_file - 1) / per_file;
        for (std::uint32_t i = 0; i < files; ++i) {
            const auto first = (wanted.look_first_at / per_file + i) % files * per_file;
            const auto path = fmt::format("{}/{}", directory, format::node_path(first, wanted.nodes, wanted.form));
            if (first + 1 == wanted.nodes) {
                FB_TRY_ASSIGN(exists, store.exists(path));
                if (!exists) return std::optional(first);
                continue;
            }
            FB_TRY_ASSIGN(absent, absent_region(store, path, wanted.snapshot_id, first, wanted.look_first_at));
            if (absent) return absent;
        }
        return std::optional<std::uint32_t>{};
    }

    Result<> assemble(sys::Store& store, const std::string& directory, const WantedSnapshot& wanted,
                      const AddHead& add) const override {
        for (std::uint32_t node = 0; node < wanted.nodes;) {
            const auto path = format::node_path(node, wanted.nodes, wanted.form);
            const auto full_path = fmt::format("{}/{}", directory, path);
            // The last node may be alone in its file; then the file has the form own.
            if (node + 1 < wanted.nodes) {
                FB_TRY_ASSIGN(nodes, assemble_file(store, path, full_path, node, wanted, add));
                node += nodes;
                continue;
            }
            FB_TRY_ASSIGN(head, load_head(store, full_path));
            FB_TRY(add(head, node++, path, full_path));
        }
        return {};
    }

    std::unique_ptr<sys::File> part_of(std::unique_ptr<sys::File> file, const format::NodeLine& line) const override {
        return sys::stretch_of(std::move(file), line.offset_bytes, line.file_bytes);
    }

    // The head needs the regions of all nodes of the file, so all of them must be read first.
    std::optional<ShownHead> shown(const format::Manifest&, const format::NodeLine& line, const format::NodeFile& head,
                                   std::vector<format::Region>& seen) const override {
        const auto& form = head.record.form;
        const auto first = format::first_node(form), nodes = format::nodes_in(form);
        if (line.node == first) seen.clear();
        seen.push_back(format::region_of(head));
        if (line.node + 1 != first + nodes || seen.size() != nodes) return {};
        return ShownHead{format::encode_combined_head(format::page_of(head.record), head.schema, seen),
                         format::length_of(form)};
    }

private:
    static std::uint32_t per_file_of(const WantedSnapshot& wanted) {
        return std::get<format::CombinedFile>(wanted.form).nodes_per_file;
    }

    /// Adds all nodes of one file, then writes its head. Returns the number of nodes.
    static Result<std::uint32_t> assemble_file(sys::Store& store, const std::string& path, const std::string& full_path,
                                               std::uint32_t first, const WantedSnapshot& wanted, const AddHead& add) {
        FB_TRY_ASSIGN(file, open_file(store, full_path));
        FB_TRY_ASSIGN(page, load_page(*file, full_path));
        const auto* own = std::get_if<format::CombinedFile>(&page.form);
        if (own == nullptr) return not_of_this(full_path, "it is a file of all nodes");
        if (own->first_node != first || own->nodes_per_file != per_file_of(wanted))
            return not_of_this(full_path, fmt::format("it holds {} nodes from {}, {} a file", own->nodes(),
                                                      own->first_node, own->nodes_per_file));
        std::vector<format::Region> regions;
        Schema schema;
        for (auto node = first; node < first + own->nodes(); ++node) {
            const auto name = full_path + "/" + format::region_name(node);
            FB_TRY_ASSIGN(head, load_region(*file, page, node, name));
            if (format::page_of(head.record) != page)
                return not_of_this(name, "its record and the file's page disagree on the places of the nodes");
            FB_TRY(add(head, node, path, name));
            regions.push_back(format::region_of(head));
            schema = std::move(head.schema);
        }
        FB_TRY(file->close());
        // No length: the file ends with the region that arrived last.
        FB_TRY(write_head(store, full_path, format::encode_combined_head(page, schema, regions), {}));
        return own->nodes();
    }
};

}  // namespace

const FileForm& combined_form() {
    static const CombinedForm form;
    return form;
}

}  // namespace forebay::catalog

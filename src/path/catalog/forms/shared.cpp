// All nodes share one file with one dataset for each variable. A node's head has its own region; its data lie between
// the data of other nodes.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/try.hpp"
#include "core/format/shared.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/forms/file_form.hpp"
#include "path/catalog/forms/regions.hpp"

namespace forebay::catalog {

namespace {

class SharedForm final : public FileForm {
public:
    bool is_named(const std::string& name) const override { return name == format::shared_file_name; }

    Result<> look(sys::Store& store, const std::string& path, Arrived& arrived) const override {
        return look_at_regions(store, path, arrived);
    }

    Result<std::optional<std::uint32_t>> absent(sys::Store& store, const std::string& directory,
                                                const WantedSnapshot& wanted) const override {
        return absent_region(store, directory + "/" + format::shared_file_name, wanted.snapshot_id, 0,
                             wanted.look_first_at);
    }

    Result<> assemble(sys::Store& store, const std::string& directory, const WantedSnapshot& wanted,
                      const AddHead& add) const override;

    Result<NodeReader> reader_of(std::unique_ptr<sys::File> part, const format::NodeLine& line,
                                 const std::string& name) const override {
        return NodeReader::open_within(std::move(part), line.offset_bytes, name);
    }

    // A segment may have several stretches, with bytes of other nodes between them.
    std::pair<std::uint64_t, std::uint64_t> bounds_of(const format::NodeFile& head, const format::Segment& segment,
                                                      std::uint64_t) const override {
        std::uint64_t first = UINT64_MAX, last = 0;
        format::for_each_stretch(head, segment.offset, segment.bytes, [&](const format::Stretch& stretch) {
            first = std::min(first, stretch.offset);
            last = std::max(last, stretch.offset + stretch.bytes - 1);
            return true;
        });
        return {first, last};
    }

    // The head needs the rows of all nodes, and the manifest has them.
    std::optional<ShownHead> shown(const format::Manifest& manifest, const format::NodeLine& line,
                                   const format::NodeFile& head, std::vector<format::Region>&) const override {
        if (line.node + 1 != head.record.nodes) return {};
        std::vector<std::uint64_t> rows(head.schema.tables.size(), 0);
        for (const auto& each : manifest.nodes)
            for (std::size_t table = 0; table < rows.size(); ++table) rows[table] += each.rows[table];
        return ShownHead{format::encode_shared_head(format::page_of(head.record), head.schema, rows),
                         format::length_of(head.record.form)};
    }

    std::vector<std::string> datasets(const format::NodeFile& head) const override {
        return format::shared_datasets(head.record, head.schema);
    }
};

// Checks that each node's bytes begin at the end of the node before, and that all lie at the place that the rows give.
Result<> SharedForm::assemble(sys::Store& store, const std::string& directory, const WantedSnapshot& wanted,
                              const AddHead& add) const {
    const std::string path = format::shared_file_name;
    const auto full_path = directory + "/" + path;
    FB_TRY_ASSIGN(file, open_file(store, full_path));
    FB_TRY_ASSIGN(page, load_page(*file, full_path));
    const auto* places = std::get_if<format::SharedFile>(&page.form);
    if (page.nodes != wanted.nodes || places == nullptr)
        return not_of_this(full_path, fmt::format("it holds {} nodes, {} expected", page.nodes, wanted.nodes));
    format::SharedPlan plan{.places = *places, .offsets = {}};
    Schema schema;
    std::vector<std::uint64_t> rows;
    for (std::uint32_t node = 0; node < wanted.nodes; ++node) {
        const auto name = full_path + "/" + format::region_name(node);
        FB_TRY_ASSIGN(head, load_region(*file, page, node, name));
        if (format::page_of(head.record) != page || head.storage != format::Storage::spread)
            return not_of_this(name, "its record and the file's page disagree on the places of the nodes");
        FB_TRY(add(head, node, path, name));
        if (node == 0) {
            rows.assign(head.schema.tables.size(), 0);
            for (const auto& extent : head.extents) plan.offsets.push_back(extent.shared_offset_bytes);
        }
        const auto expected = format::own_offsets(plan, head.schema, rows);
        if (!std::ranges::equal(head.extents, expected, {}, &format::Extent::shared_offset_bytes))
            return not_of_this(name, "its data do not begin at the end of the data of the nodes before");
        for (std::uint32_t table = 0; table < rows.size(); ++table) rows[table] += head.rows(table);
        schema = std::move(head.schema);
    }
    FB_TRY(file->close());
    const auto whole = format::place_shared(schema, *places, rows);
    const auto naming = static_cast<format::SharedNaming>(places->naming);
    if (places->heads_offset != format::shared_heads_offset(schema, naming) || whole.places != plan.places ||
        whole.offsets != plan.offsets)
        return not_of_this(full_path, "its page and its nodes disagree with their rows on the places of the variables");
    // Nobody may have written the last bytes of the file, and the host of the agent that set its length may have died
    // before the sync. So the length is set again, durably.
    return write_head(store, full_path, format::encode_shared_head(page, schema, rows), places->file_bytes);
}

}  // namespace

const FileForm& shared_form() {
    static const SharedForm form;
    return form;
}

}  // namespace forebay::catalog

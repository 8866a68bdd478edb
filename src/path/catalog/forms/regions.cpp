#include "path/catalog/forms/regions.hpp"

#include <fmt/format.h>

#include "core/base/try.hpp"
#include "path/catalog/names.hpp"

namespace forebay::catalog {

Result<std::uint32_t> read_arrival(sys::File& file, const format::Form& form, std::uint64_t snapshot_id,
                                   std::uint32_t node, const std::string& path) {
    alignas(limits::page_bytes) format::Page page;
    FB_TRY(file.read(format::arrival_offset(form, node), page));
    return format::open_arrival(page, snapshot_id, node, path);
}

bool has_not_come(const Error& error) { return error.kind == ErrorKind::missing || error.kind == ErrorKind::corrupt; }

Result<std::optional<std::uint32_t>> absent_region(sys::Store& store, const std::string& path,
                                                   std::uint64_t snapshot_id, std::uint32_t first_node,
                                                   std::uint32_t look_first_at) {
    auto file = open_file(store, path);
    if (!file && file.error().kind == ErrorKind::missing) return std::optional(first_node);
    if (!file) return file.error();
    const auto page = catalog::load_page(**file, path);
    if (!page && has_not_come(page.error())) return std::optional(first_node);
    if (!page) return page.error();
    const auto& form = page->form;
    const auto first = format::first_node(form), nodes = format::nodes_in(form);
    if (page->snapshot_id != snapshot_id || first != first_node)
        return Error{ErrorKind::refused,
                     fmt::format("{} does not belong to this snapshot: it holds the nodes from {} of snapshot {}", path,
                                 first, catalog::id_text(page->snapshot_id)),
                     "all staged copies. Nothing was committed, moved or removed",
                     "move the file away and drain its nodes again"};
    // If many nodes are absent, each agent finds one soon, and the agents do not all read the same page.
    const auto begin = look_first_at >= first && look_first_at - first < nodes ? look_first_at - first : 0;
    for (std::uint32_t i = 0; i < nodes; ++i) {
        const auto node = first + (begin + i) % nodes;
        const auto arrived = read_arrival(**file, form, snapshot_id, node, path);
        if (!arrived && has_not_come(arrived.error())) return std::optional(node);
        if (!arrived) return arrived.error();
    }
    return std::optional<std::uint32_t>{};
}

namespace {

Result<std::vector<std::uint32_t>> arrived_regions(sys::File& file, const format::CombinedPage& page,
                                                   const std::string& path) {
    std::vector<std::uint32_t> nodes;
    const auto end = format::first_node(page.form) + format::nodes_in(page.form);
    for (auto node = format::first_node(page.form); node < end; ++node) {
        const auto arrived = read_arrival(file, page.form, page.snapshot_id, node, path);
        if (!arrived && !has_not_come(arrived.error())) return arrived.error();
        if (arrived) nodes.push_back(node);
    }
    return nodes;
}

}  // namespace

Result<> look_at_regions(sys::Store& store, const std::string& path, Arrived& arrived) {
    FB_TRY_ASSIGN(file, open_file(store, path));
    const auto page = load_page(*file, path);
    // Failing storage or a newer version proves nothing. Any other error means that the page was not written yet.
    if (!page && (page.error().kind == ErrorKind::retry || page.error().kind == ErrorKind::unsupported))
        return page.error();
    if (!page) return {};  // begun, and no node arrived
    arrived.nodes = page->nodes;
    FB_TRY_ASSIGN(nodes, arrived_regions(*file, *page, path));
    arrived.files += static_cast<std::uint32_t>(nodes.size());
    if (arrived.record || nodes.empty()) return {};
    std::vector<std::byte> pages(format::record_offset_bytes + format::record_size_bytes);
    FB_TRY(file->read(format::region_offset(page->form, nodes.front()), pages));
    FB_TRY_ASSIGN(peeked, format::peek(pages, path));
    arrived.record = peeked.record;
    return {};
}

Result<> write_head(sys::Store& store, const std::string& path, std::span<const std::byte> head,
                    std::optional<std::uint64_t> file_bytes) {
    FB_TRY_ASSIGN(out, store.open(path, sys::Access::update));
    FB_TRY(out->write(0, head));
    if (file_bytes) FB_TRY(out->truncate(*file_bytes));
    FB_TRY(out->sync());
    return out->close();
}

}  // namespace forebay::catalog

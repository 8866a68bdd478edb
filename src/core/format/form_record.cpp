// The form of a save's files in the record page of a node file: stores the fields of each form, and checks fields that
// are read.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/format/head.hpp"

namespace forebay::format {

namespace {

void store_fields(const OwnFile&, RecordPage&) {}

void store_fields(const CombinedFile& file, RecordPage& page) {
    page.nodes_per_file = file.nodes_per_file;
    page.group_nodes = file.nodes();
    page.group_first_node = file.first_node;
    std::ranges::copy(file.offsets, page.group_offsets.begin());
}

void store_fields(const SharedFile& file, RecordPage& page) {
    page.shared_heads_offset = file.heads_offset;
    page.shared_region_bytes = file.region_bytes;
    page.shared_alignment_bytes = file.alignment_bytes;
    page.shared_file_bytes = file.file_bytes;
    page.shared_naming = file.naming;
}

Result<> check_fields(const OwnFile&, const RecordPage& page, const std::string& name) {
    if (storage_of(page) == Storage::spread) return damaged_head(name, "its record lists no shared file.");
    return {};
}

Result<> check_fields(const CombinedFile& file, const RecordPage& page, const std::string& name) {
    if (storage_of(page) == Storage::spread) return damaged_head(name, "its record lists no shared file.");
    if (const auto fault = fault_in(file, page.nodes)) return damaged_head(name, *fault);
    if (page.node < file.first_node || page.node - file.first_node >= file.nodes())
        return damaged_head(name, fmt::format("its record has node {} in a file of {} nodes from {}.", page.node,
                                              file.nodes(), file.first_node));
    const auto i = page.node - file.first_node;
    // The last page of a region is for its arrival.
    if (!file.is_alone() && file.offsets[i + 1] - limits::page_bytes - file.offsets[i] < page.file_bytes)
        return damaged_head(name, fmt::format("its record has too little room for its {} bytes.", page.file_bytes));
    return {};
}

Result<> check_fields(const SharedFile& file, const RecordPage& page, const std::string& name) {
    if (page.nodes_per_file > 1 || is_compressed(page))
        return damaged_head(name, "its record is of a shared file and of another form too.");
    if (const auto fault = fault_in(file, page.nodes)) return damaged_head(name, *fault);
    if (page.head_bytes > file.region_bytes - limits::page_bytes)
        return damaged_head(name,
                            fmt::format("its record has too little room for a head of {} bytes.", page.head_bytes));
    if (storage_of(page) == Storage::spread && page.file_bytes != round_up(page.head_bytes, limits::page_bytes))
        return damaged_head(name,
                            fmt::format("its record has {} bytes and a head of {}.", page.file_bytes, page.head_bytes));
    return {};
}

}  // namespace

void store_form(const Form& form, RecordPage& page) {
    std::visit([&](const auto& file) { store_fields(file, page); }, form);
}

Form form_of(const RecordPage& page) {
    if (page.shared_region_bytes != 0)
        return SharedFile{.nodes = page.nodes,
                          .naming = page.shared_naming,
                          .heads_offset = page.shared_heads_offset,
                          .region_bytes = page.shared_region_bytes,
                          .alignment_bytes = page.shared_alignment_bytes,
                          .file_bytes = page.shared_file_bytes};
    if (page.nodes_per_file < 2) return OwnFile{};
    CombinedFile file{.nodes_per_file = page.nodes_per_file, .first_node = page.group_first_node};
    if (page.group_nodes > 1) file.offsets = Offsets(std::span(page.group_offsets).first(page.group_nodes + 1));
    return file;
}

Result<> check_form(const RecordPage& page, const std::string& name) {
    const bool is_combined = page.shared_region_bytes == 0 && page.nodes_per_file > 1;
    if (is_combined && (page.group_nodes == 0 || page.group_nodes > limits::nodes_per_file_max))
        return damaged_head(name, fmt::format("its record has {} nodes in its file.", page.group_nodes));
    return std::visit([&](const auto& file) { return check_fields(file, page, name); }, form_of(page));
}

}  // namespace forebay::format

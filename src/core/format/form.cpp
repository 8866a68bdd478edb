#include "core/format/form.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/limits.hpp"
#include "core/format/shared.hpp"

namespace forebay::format {

namespace {

// One overload for each form.

std::uint32_t first_node_of(const OwnFile&) { return 0; }
std::uint32_t first_node_of(const CombinedFile& file) { return file.first_node; }
std::uint32_t first_node_of(const SharedFile&) { return 0; }

std::uint32_t node_count_of(const OwnFile&) { return 1; }
std::uint32_t node_count_of(const CombinedFile& file) { return file.nodes(); }
std::uint32_t node_count_of(const SharedFile& file) { return file.nodes; }

std::uint64_t region_begin(const OwnFile&, std::uint32_t) { return 0; }
std::uint64_t region_begin(const CombinedFile& file, std::uint32_t node) {
    return file.is_alone() ? 0 : file.offsets[node - file.first_node];
}
std::uint64_t region_begin(const SharedFile& file, std::uint32_t node) {
    return file.heads_offset + node * file.region_bytes;
}

// Returns the end of a node's region.
std::uint64_t region_end(const OwnFile&, std::uint32_t) { return limits::page_bytes; }
std::uint64_t region_end(const CombinedFile& file, std::uint32_t node) {
    return file.is_alone() ? limits::page_bytes : file.offsets[node - file.first_node + 1];
}
std::uint64_t region_end(const SharedFile& file, std::uint32_t node) {
    return region_begin(file, node) + file.region_bytes;
}

std::uint64_t length_in(const OwnFile&) { return 0; }
std::uint64_t length_in(const CombinedFile& file) { return file.is_alone() ? 0 : file.offsets.back(); }
std::uint64_t length_in(const SharedFile& file) { return file.file_bytes; }

std::string path_in(std::uint32_t node, std::uint32_t nodes, std::uint32_t nodes_per_file) {
    const auto file = node / nodes_per_file;
    const auto first = file * nodes_per_file, last = std::min(first + nodes_per_file, nodes) - 1;
    const auto folder = (nodes + nodes_per_file - 1) / nodes_per_file > limits::nodes_per_directory
                            ? fmt::format("g{:03}/", file / limits::nodes_per_directory)
                            : std::string();
    if (first == last) return fmt::format("{}node-{:05}.h5", folder, node);
    return fmt::format("{}nodes-{:05}-{:05}.h5", folder, first, last);
}

std::string path_in(const OwnFile&, std::uint32_t node, std::uint32_t nodes) { return path_in(node, nodes, 1); }
std::string path_in(const CombinedFile& file, std::uint32_t node, std::uint32_t nodes) {
    return path_in(node, nodes, file.nodes_per_file);
}
std::string path_in(const SharedFile&, std::uint32_t, std::uint32_t) { return shared_file_name; }

}  // namespace

FormKind kind_of_file(const Form& form) {
    const auto* combined = std::get_if<CombinedFile>(&form);
    return combined != nullptr && combined->is_alone() ? FormKind::own : kind_of(form);
}

std::uint32_t first_node(const Form& form) {
    return std::visit([](const auto& file) { return first_node_of(file); }, form);
}

std::uint32_t nodes_in(const Form& form) {
    return std::visit([](const auto& file) { return node_count_of(file); }, form);
}

std::uint64_t region_offset(const Form& form, std::uint32_t node) {
    return std::visit([&](const auto& file) { return region_begin(file, node); }, form);
}

std::uint64_t arrival_offset(const Form& form, std::uint32_t node) {
    return std::visit([&](const auto& file) { return region_end(file, node); }, form) - limits::page_bytes;
}

std::uint64_t length_of(const Form& form) {
    return std::visit([](const auto& file) { return length_in(file); }, form);
}

std::string node_path(std::uint32_t node, std::uint32_t nodes, const Form& form) {
    return std::visit([&](const auto& file) { return path_in(file, node, nodes); }, form);
}

}  // namespace forebay::format

#include "insight/views/virtual_file.hpp"

#include <fmt/format.h>

#include "core/base/try.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/view_mark.hpp"
#include "insight/outline/dimensions.hpp"
#include "insight/views/render.hpp"

namespace forebay::views {

namespace {

/// In source names HDF5 replaces %b by a block's number, and %% by %.
std::string escaped(const std::string& name) {
    std::string result;
    for (const char c : name) result += c == '%' ? "%%" : std::string(1, c);
    return result;
}

/// The part of a virtual dataset that comes from one source dataset.
struct Taken {
    Box box;  // of the variable
    const std::string& file;
    std::string dataset;
    Extents shape;  // of the source's dataset
    Box from;       // of the source's dataset
};

/// A shared file has the variable in its own shape: one mapping, except for the boxes of arrays with holes.
std::vector<Taken> taken_from_shared(const outline::Contents& contents, std::size_t v) {
    const auto& variable = contents.manifest.schema.variables[v];
    const auto shape = outline::shown_shape(variable, contents.table_rows);
    std::vector<Taken> taken;
    const auto take = [&](const Box& box) {
        taken.push_back({box, contents.sources.front(), contents.datasets[v], shape, box});
    };
    if (variable.kind == Kind::array && variable.coverage == Coverage::partial) {
        for (const auto& placed : contents.mappings[v]) take(placed.mapping.box);
    } else if (!contents.mappings[v].empty()) {
        Box all{.size = shape};
        for (int dim = 0; dim < shape.dims(); ++dim) all.lo.push_back(0);
        take(all);
    }
    return taken;
}

std::vector<Taken> taken_from(const outline::Contents& contents, std::size_t v) {
    if (!contents.datasets.empty()) return taken_from_shared(contents, v);
    const auto& variable = contents.manifest.schema.variables[v];
    std::vector<Taken> taken;
    for (const auto& placed : contents.mappings[v]) {
        const auto& [first_element, box] = placed.mapping;
        const bool is_whole = variable.kind == Kind::replicated;
        const Box flat{{first_element}, {volume(box.size)}};
        taken.push_back({box, contents.sources[placed.source], contents.groups[placed.source] + variable.name,
                         is_whole ? variable.shape : Extents{placed.source_elements}, is_whole ? box : flat});
    }
    return taken;
}

/// Maps the sources of a virtual dataset. A dataset without sources stays ordinary, with nothing stored.
Result<> map(const NewDataset& dataset, std::span<const outline::Contents> contents, const std::string& prefix) {
    const auto doing = fmt::format("mapping '{}'", dataset.outline.path);
    for (const auto& shows : std::get<std::vector<outline::Outline::Shows>>(dataset.outline.content)) {
        for (const auto& taken : taken_from(contents[shows.snapshot], shows.variable)) {
            if (volume(taken.box.size) == 0) continue;  // an extent is 0
            FB_TRY(h5::select(dataset.space, outline::placed_in(dataset.outline, shows, taken.box)));
            FB_TRY_ASSIGN(source, h5::space_of(taken.shape));
            if (taken.shape.dims() > 0) FB_TRY(h5::select(source, taken.from));
            FB_TRY(h5::require(
                H5Pset_virtual(dataset.creation.get(), dataset.space.get(), escaped(prefix + taken.file).c_str(),
                               escaped(taken.dataset).c_str(), source.get()),
                doing));
        }
    }
    // Each source changed the selection, but the dataset needs its whole space.
    return h5::require(H5Sselect_all(dataset.space.get()), doing);
}

/// Links to a dataset without dimensions, so that netCDF makes no dimension of it; a shared file has no such dataset.
/// Makes no link if a variable has the name.
Result<> link_node_file(h5::Hdf5File& file, const outline::Contents& contents, const std::string& prefix) {
    constexpr const char* name = "forebay_schema";
    if (contents.sources.empty()) return {};
    FB_TRY_ASSIGN(root, file.group(""));
    if (H5Lexists(root.get(), name, H5P_DEFAULT) > 0) return {};
    const auto object =
        contents.datasets.empty() ? "/" + contents.groups.front() + "_forebay/schema" : "/_forebay/page";
    return h5::require(H5Lcreate_external((prefix + contents.sources.front()).c_str(), object.c_str(), root.get(), name,
                                          H5P_DEFAULT, H5P_DEFAULT),
                       "linking the first node file");
}

}  // namespace

Result<std::string> write_virtual(const outline::Outline& outline, std::span<const outline::Contents> contents,
                                  const std::string& prefix, bool needs_nodes) {
    const h5::QuietErrors quiet;
    FB_TRY_ASSIGN(file, h5::Hdf5File::in_memory());
    FB_TRY(render(file, outline, contents, [&](const NewDataset& dataset) { return map(dataset, contents, prefix); }));
    if (needs_nodes) FB_TRY(link_node_file(file, contents.front(), prefix));
    FB_TRY_ASSIGN(bytes, file.bytes());
    return bytes + format::view_mark(bytes.size());
}

}  // namespace forebay::views

#include "insight/views/scales.hpp"

#include <fmt/format.h>

#include "core/base/try.hpp"

namespace forebay::views {

namespace {

/// One entry of a scale's REFERENCE_LIST, as in the specification of dimension scales.
struct Use {
    hobj_ref_t dataset;
    std::int32_t dimension;
    std::int32_t padding;
};
static_assert(sizeof(Use) == 16);

/// Readers compare these two attributes including their final NUL.
Result<> put_mark(const h5::Id& scale, const char* name, const std::string& text) {
    FB_TRY_ASSIGN(type, h5::own(H5Tcopy(H5T_C_S1), "marking a scale"));
    FB_TRY(h5::require(H5Tset_size(type.get(), text.size() + 1), "marking a scale"));
    FB_TRY_ASSIGN(space, h5::own(H5Screate(H5S_SCALAR), "marking a scale"));
    FB_TRY_ASSIGN(attribute, h5::own(H5Acreate2(scale.get(), name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                                     "marking a scale"));
    return h5::require(H5Awrite(attribute.get(), type.get(), text.c_str()), "marking a scale");
}

Result<hobj_ref_t> reference_to(const h5::Hdf5File& file, const std::string& path) {
    hobj_ref_t reference{};
    FB_TRY(h5::require(H5Rcreate(&reference, file.id().get(), path.c_str(), H5R_OBJECT, -1),
                       fmt::format("referring to '{}'", path)));
    return reference;
}

/// Writes a list of `count` elements as an attribute of a dataset.
Result<> put_list(const h5::Hdf5File& file, const std::string& path, const char* name, const h5::Id& type,
                  hsize_t count, const void* list) {
    const auto doing = fmt::format("writing {} of '{}'", name, path);
    FB_TRY_ASSIGN(space, h5::own(H5Screate_simple(1, &count, nullptr), doing));
    FB_TRY_ASSIGN(dataset, h5::own(H5Dopen2(file.id().get(), path.c_str(), H5P_DEFAULT), doing));
    FB_TRY_ASSIGN(attribute,
                  h5::own(H5Acreate2(dataset.get(), name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), doing));
    return h5::require(H5Awrite(attribute.get(), type.get(), list), doing);
}

/// The scales of a variable, one for each dimension.
Result<> put_dimension_list(const h5::Hdf5File& file, const std::string& path, std::vector<hobj_ref_t>& scales) {
    std::vector<hvl_t> lists;
    lists.reserve(scales.size());
    for (auto& scale : scales) lists.push_back({1, &scale});
    FB_TRY_ASSIGN(type, h5::own(H5Tvlen_create(H5T_STD_REF_OBJ), "naming a variable's dimensions"));
    return put_list(file, path, "DIMENSION_LIST", type, lists.size(), lists.data());
}

/// The variables that use a scale.
Result<> put_reference_list(const h5::Hdf5File& file, const std::string& path, const std::vector<Use>& uses) {
    constexpr auto doing = "listing the users of a dimension";
    FB_TRY_ASSIGN(type, h5::own(H5Tcreate(H5T_COMPOUND, sizeof(Use)), doing));
    FB_TRY(h5::require(H5Tinsert(type.get(), "dataset", HOFFSET(Use, dataset), H5T_STD_REF_OBJ), doing));
    FB_TRY(h5::require(H5Tinsert(type.get(), "dimension", HOFFSET(Use, dimension), H5T_STD_I32LE), doing));
    return put_list(file, path, "REFERENCE_LIST", type, uses.size(), uses.data());
}

}  // namespace

Result<> mark_scale(const h5::Id& scale, const outline::Outline::Dataset& dataset) {
    FB_TRY(put_mark(scale, "CLASS", "DIMENSION_SCALE"));
    return put_mark(scale, "NAME", dataset.scale);
}

Result<> attach_scales(const h5::Hdf5File& file, const outline::Outline& outline) {
    std::vector<hobj_ref_t> references(outline.datasets.size());
    for (std::size_t d = 0; d < outline.datasets.size(); ++d) {
        const auto& dataset = outline.datasets[d];
        if (dataset.scale.empty() && dataset.dimensions.empty()) continue;
        FB_TRY_ASSIGN(reference, reference_to(file, dataset.path));
        references[d] = reference;
    }
    // All uses are collected first, so that each list is written once.
    std::vector<std::vector<Use>> uses(outline.datasets.size());
    for (std::size_t d = 0; d < outline.datasets.size(); ++d) {
        const auto& of = outline.datasets[d].dimensions;
        if (of.empty()) continue;
        std::vector<hobj_ref_t> own;
        for (std::size_t dim = 0; dim < of.size(); ++dim) {
            own.push_back(references[of[dim]]);
            uses[of[dim]].push_back({references[d], static_cast<std::int32_t>(dim), 0});
        }
        FB_TRY(put_dimension_list(file, outline.datasets[d].path, own));
    }
    for (std::size_t d = 0; d < outline.datasets.size(); ++d)
        if (!uses[d].empty()) FB_TRY(put_reference_list(file, outline.datasets[d].path, uses[d]));
    return {};
}

}  // namespace forebay::views

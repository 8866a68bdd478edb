#include "core/format/head.hpp"

#include <algorithm>

#include "core/base/limits.hpp"

namespace forebay::format {
namespace {

// The first two are CF names, so netCDF tools and xarray show them.
constexpr const char* unit_attribute = "units";
constexpr const char* description_attribute = "long_name";
constexpr const char* shape_attribute = "forebay_shape";
constexpr const char* dimensions_attribute = "forebay_dimensions";
constexpr const char* columns_attribute = "columns";

constexpr const char* extents_columns = "offset_bytes used_bytes capacity_bytes reserved";
constexpr const char* index_columns =
    "variable rank offset_bytes size_bytes first_segment dims lo_0 size_0 lo_1 size_1 lo_2 size_2 lo_3 size_3 lo_4 "
    "size_4 "
    "lo_5 size_5 lo_6 size_6 lo_7 size_7 reserved_0 reserved_1";

constexpr const char* filters_columns =
    "filter chunk_bytes values_used value_0 value_1 value_2 value_3 value_4 value_5 value_6 value_7 reserved";
constexpr const char* chunks_columns =
    "variable plain_offset plain_bytes stored_offset stored_bytes crc32c filtered effort";

hdf5::Dataset dataset_of(const HeadParts& parts, std::size_t v, const std::string& prefix) {
    const auto& variable = parts.schema.variables[v];
    hdf5::Dataset dataset{prefix + variable.name, variable.type, variable.shape, attributes_of(variable, true)};
    // A dataset of a node's blocks has only a length. The number of rows is stored later, with the places.
    if (variable.kind != Kind::replicated) dataset.dims = {parts.extents[v].used_bytes / variable.type.size_bytes};
    if (!parts.chunking.empty() && parts.chunking[v].filter != 0) dataset.chunking = &parts.chunking[v];
    return dataset;
}

}  // namespace

std::vector<hdf5::Attribute> attributes_of(const Variable& variable, bool flat) {
    const auto& given = variable.attributes;
    std::vector<hdf5::Attribute> attributes;
    if (!given.unit.empty()) attributes.push_back({unit_attribute, given.unit});
    if (!given.description.empty()) attributes.push_back({description_attribute, given.description});
    if (flat && variable.kind == Kind::array) {
        std::vector<std::uint64_t> shape;
        shape.reserve(static_cast<std::size_t>(variable.shape.dims()));
        for (int dim = 0; dim < variable.shape.dims(); ++dim) shape.push_back(variable.shape[dim]);
        attributes.push_back({shape_attribute, std::move(shape)});
    }
    if (!given.dimensions.empty()) {
        std::string names;
        for (const auto& name : given.dimensions) names += (names.empty() ? "" : ",") + name;
        attributes.push_back({dimensions_attribute, std::move(names)});
    }
    for (const auto& other : given.others)
        std::visit([&](const auto& typed) { attributes.push_back({other.first, typed}); }, other.second);
    return attributes;
}

bool is_reserved_attribute(std::string_view name) {
    return name == unit_attribute || name == description_attribute || name.starts_with("forebay_");
}

std::vector<hdf5::Dataset> datasets_of(const HeadParts& parts, const std::string& prefix) {
    std::vector<hdf5::Dataset> datasets;
    datasets.reserve(parts.schema.variables.size() + 8);
    for (std::size_t v = 0; v < parts.schema.variables.size(); ++v) datasets.push_back(dataset_of(parts, v, prefix));
    // In the order of OwnDataset.
    datasets.push_back({prefix + "_forebay/record", u8, {record_size_bytes}, {}});
    datasets.push_back({prefix + "_forebay/schema", string_of(static_cast<std::uint32_t>(parts.schema_bytes)), {}, {}});
    datasets.push_back({prefix + "_forebay/ranks", u32, {parts.ranks}, {}});
    datasets.push_back({prefix + "_forebay/extents",
                        u64,
                        {parts.extents.size(), sizeof(ExtentRow) / 8},
                        {{columns_attribute, extents_columns}}});
    datasets.push_back(
        {prefix + "_forebay/index", u64, {parts.blocks, sizeof(IndexRow) / 8}, {{columns_attribute, index_columns}}});
    datasets.push_back({prefix + "_forebay/crc32c", u32, {0}, {}});
    if (!parts.chunking.empty()) {
        datasets.push_back({prefix + "_forebay/filters",
                            u32,
                            {parts.extents.size(), sizeof(FilterRow) / 4},
                            {{columns_attribute, filters_columns}}});
        datasets.push_back({prefix + "_forebay/chunks",
                            u64,
                            {parts.chunks, sizeof(ChunkRow) / 8},
                            {{columns_attribute, chunks_columns}}});
    }
    return datasets;
}

hdf5::Headers encode_node_headers(const HeadParts& parts) {
    const auto datasets = datasets_of(parts, {});
    return hdf5::encode_headers(datasets, record_offset_bytes + record_size_bytes);
}

}  // namespace forebay::format

#include "insight/views/stored_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/try.hpp"
#include "core/describe/convert.hpp"
#include "core/describe/geometry.hpp"
#include "insight/views/render.hpp"

namespace forebay::views {

namespace {

constexpr std::uint64_t gap_bytes_max = 4096;

/// Space for metadata, usually one block at the file's front: some 700 bytes a dataset or group, and attributes twice,
/// because HDF5 doubles headers that grow.
std::uint64_t metadata_bytes(const outline::Outline& outline, std::uint64_t alignment) {
    std::uint64_t bytes = 8192 + 1024 * (outline.groups.size() + outline.types.size() + outline.datasets.size());
    const auto attributes = [](const auto& object) { return 512 * object.attributes.size(); };
    for (const auto& group : outline.groups) bytes += attributes(group);
    for (const auto& dataset : outline.datasets) bytes += attributes(dataset);
    // A block as large as the alignment would itself be aligned, after a hole.
    return std::min(round_up(bytes, 4096), alignment / 2);
}

Result<> reserve(const NewDataset& dataset) {
    const auto doing = fmt::format("laying out '{}'", dataset.outline.path);
    // Allocated at once and never filled: HDF5 gives the dataset an offset and writes none of its bytes.
    FB_TRY(h5::require(H5Pset_layout(dataset.creation.get(), H5D_CONTIGUOUS), doing));
    FB_TRY(h5::require(H5Pset_alloc_time(dataset.creation.get(), H5D_ALLOC_TIME_EARLY), doing));
    return h5::require(H5Pset_fill_time(dataset.creation.get(), H5D_FILL_TIME_NEVER), doing);
}

Result<Tiling> tiling_of(const outline::Outline::Dataset& dataset, std::span<const outline::Contents> contents) {
    std::vector<Stored> boxes;
    for (const auto& shows : std::get<std::vector<outline::Outline::Shows>>(dataset.content)) {
        const auto& of = contents[shows.snapshot];
        const auto& variable = of.manifest.schema.variables[shows.variable];
        FB_TRY(describe::conversion(variable.type, dataset.type));
        for (const auto& placed : of.mappings[shows.variable])
            boxes.push_back({outline::placed_in(dataset, shows, placed.mapping.box),
                             static_cast<std::uint32_t>(shows.snapshot), static_cast<std::uint32_t>(shows.variable),
                             placed.source, placed.mapping.first_element});
    }
    return Tiling(dataset.shape, std::move(boxes));
}

Result<> add_targets(StoredFile& stored, h5::Hdf5File& file, const outline::Outline& outline,
                     std::span<const outline::Contents> contents) {
    for (const auto& dataset : outline.datasets) {
        const auto* shown = std::get_if<std::vector<outline::Outline::Shows>>(&dataset.content);
        const auto bytes = volume(dataset.shape) * dataset.type.size_bytes;
        if (shown == nullptr || is_copied(*shown, contents) || bytes == 0) continue;
        FB_TRY_ASSIGN(opened, h5::own(H5Dopen2(file.id().get(), dataset.path.c_str(), H5P_DEFAULT),
                                      fmt::format("opening '{}'", dataset.path)));
        const auto offset = H5Dget_offset(opened.get());
        if (offset == HADDR_UNDEF)
            return Error{ErrorKind::broken, fmt::format("HDF5 has no room for dataset '{}' yet", dataset.path)};
        auto tiling = tiling_of(dataset, contents);
        if (!tiling)
            return with_context(tiling.error(),
                                fmt::format("'{}' cannot be exported: {}", dataset.path, tiling.error().what), "",
                                "choose another convention");
        stored.targets.push_back(
            {dataset.path, offset, bytes, dataset.type, outline::fill_of(dataset.type), std::move(*tiling)});
    }
    std::ranges::sort(stored.targets, {}, &DatasetTarget::offset_bytes);
    return {};
}

/// Fills HDF5's small gaps between its objects with zeros, so that they become one write. Bytes of targets stay
/// untouched.
h5::Stretches joined(const h5::Stretches& written, std::span<const DatasetTarget> targets) {
    h5::Stretches joined;
    std::uint64_t end = 0;
    for (const auto& [offset, bytes] : written.all()) {
        const auto next = std::ranges::upper_bound(
            targets, end, {}, [](const DatasetTarget& target) { return target.offset_bytes + target.bytes; });
        const bool is_free = next == targets.end() || next->offset_bytes >= offset;
        if (is_free && end > 0 && offset - end <= gap_bytes_max)
            joined.write(end, std::vector<std::byte>(offset - end));
        joined.write(offset, bytes);
        end = offset + bytes.size();
    }
    return joined;
}

}  // namespace

Result<StoredFile> lay_out(const outline::Outline& outline, std::span<const outline::Contents> contents,
                           std::uint64_t alignment) {
    const h5::QuietErrors quiet;
    StoredFile stored;
    h5::SparseFile sparse;
    {
        FB_TRY_ASSIGN(access, sparse.access(alignment, metadata_bytes(outline, alignment)));
        FB_TRY_ASSIGN(file, h5::Hdf5File::create(access, "forebay-export"));
        FB_TRY(render(file, outline, contents, reserve));
        FB_TRY(add_targets(stored, file, outline, contents));
        // HDF5 writes its last metadata when it closes the file.
        FB_TRY(file.close());
    }
    stored.head = joined(sparse.take_written(), stored.targets);
    stored.file_bytes = sparse.size_bytes();
    return stored;
}

}  // namespace forebay::views

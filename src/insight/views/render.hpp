// Makes an outline's groups, attributes, scales and datasets in an HDF5 file. The caller decides the place of shown
// variables: node files for a view, the file itself for an export.

#pragma once

#include <functional>
#include <span>

#include "insight/h5/hdf5.hpp"
#include "insight/outline/contents.hpp"
#include "insight/outline/outline.hpp"

namespace forebay::views {

/// A dataset about to be created, with its elements in node files.
struct NewDataset {
    const outline::Outline::Dataset& outline;
    const h5::Id& type;
    const h5::Id& space;
    h5::Id& creation;  // its properties, with fill value; the caller adds the layout
};
using Lay = std::function<Result<>(const NewDataset&)>;

/// Writes the outline's own values and the replicated values of `contents` at once. Calls `lay` for all other datasets;
/// without it HDF5's default stays.
Result<> render(h5::Hdf5File& file, const outline::Outline& outline, std::span<const outline::Contents> contents,
                const Lay& lay);

/// True if all variables of a dataset are values gathered with the heads; render() writes these itself.
bool is_copied(const std::vector<outline::Outline::Shows>& shown, std::span<const outline::Contents> contents);

}  // namespace forebay::views

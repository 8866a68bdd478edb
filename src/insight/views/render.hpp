// Makes an outline's groups, attributes, scales and datasets in an HDF5 file. Where the elements of shown variables lie
// is the caller's: in node files for a view, in the file itself for an export.

#pragma once

#include <functional>
#include <span>

#include "insight/h5/hdf5.hpp"
#include "insight/outline/contents.hpp"
#include "insight/outline/outline.hpp"

namespace forebay::views {

/// A dataset that is about to be created, and whose elements lie in node files.
struct NewDataset {
    const outline::Outline::Dataset& outline;
    const h5::Id& type;
    const h5::Id& space;
    h5::Id& creation;  // its properties, fill value included; the caller adds the layout
};
using Lay = std::function<Result<>(const NewDataset&)>;

/// What the outline holds itself and the replicated values of `contents` are written at once; `lay` is asked for all
/// others. An empty one keeps HDF5's default.
Result<> render(h5::Hdf5File& file, const outline::Outline& outline, std::span<const outline::Contents> contents,
                const Lay& lay);

/// Whether everything that a dataset shows is a value that was gathered with the heads, so that render() writes it.
bool is_copied(const std::vector<outline::Outline::Shows>& shown, std::span<const outline::Contents> contents);

}  // namespace forebay::views

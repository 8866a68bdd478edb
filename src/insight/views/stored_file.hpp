// An outline as a file that holds its data itself: HDF5 lays it out in memory, and what is to be copied into it, from
// where to which offset, comes out beside. docs/formats/export.md.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "insight/h5/sparse_file.hpp"
#include "insight/outline/contents.hpp"
#include "insight/outline/outline.hpp"
#include "insight/views/dataset_source.hpp"

namespace forebay::views {

struct StoredFile {
    std::uint64_t file_bytes = 0;
    h5::Stretches head;                  // all that is not in the targets, superblock first
    std::vector<DatasetTarget> targets;  // by offset; they do not overlap
};

/// Equal outlines and contents give an equal file. Datasets of at least `alignment` bytes begin at its multiples.
Result<StoredFile> lay_out(const outline::Outline& outline, std::span<const outline::Contents> contents,
                           std::uint64_t alignment);

}  // namespace forebay::views

// An outline as a file with its own data: HDF5 lays it out in memory, and the result lists the source and offset of all
// data to copy. docs/formats/export.md.

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
    h5::Stretches head;                  // everything outside the targets, superblock first
    std::vector<DatasetTarget> targets;  // sorted by offset, without overlap
};

/// Equal outlines and contents give an equal file. Datasets of at least `alignment` bytes begin at its multiples.
Result<StoredFile> lay_out(const outline::Outline& outline, std::span<const outline::Contents> contents,
                           std::uint64_t alignment);

}  // namespace forebay::views

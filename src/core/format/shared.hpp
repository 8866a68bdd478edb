// A shared file: all nodes of a snapshot in one HDF5 file in which each variable is one dataset of its global shape.
// Each node has a region with its head alone; the node's bytes lie in the datasets. The schema and the rows of all
// nodes decide all places, so the agents write without a word to each other.
// Bytes: docs/formats/shared-file.md, version 1. Pure functions on memory; opens no file.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/format/combined.hpp"
#include "core/format/node_file.hpp"

namespace forebay::format {

/// What the datasets of a shared file are called.
enum class SharedNaming : std::uint32_t {
    own = 0,     // as the variables
    h5part = 1,  // columns as "Step#120/x", as readers of H5Part look for them
};

inline constexpr const char* shared_file_name = "shared.h5";

/// Where all lies: the regions, and each variable's dataset.
struct SharedPlan {
    SharedFile places;
    std::vector<std::uint64_t> offsets;  // of the datasets, one a variable
};

/// The room that each node's head and arrival have, when the longest of their heads may have `head_bytes`.
std::uint64_t shared_region_bytes(std::uint64_t head_bytes);

/// Where the regions begin: behind the HDF5 headers, whatever numbers these hold.
std::uint64_t shared_heads_offset(const Schema& schema, SharedNaming naming);

/// `given` names all but where the file ends. `rows` are those of all nodes, one number a table. Large variables begin
/// at multiples of the alignment, others are packed before them.
SharedPlan place_shared(const Schema& schema, const SharedFile& given, std::span<const std::uint64_t> rows);

/// Where the bytes of one node begin in each dataset: `rows_before` are those of the nodes before it.
std::vector<std::uint64_t> own_offsets(const SharedPlan& plan, const Schema& schema,
                                       std::span<const std::uint64_t> rows_before);

/// The paths of the datasets, one a variable.
std::vector<std::string> shared_datasets(const Record& record, const Schema& schema);

/// Superblock, page and HDF5 headers of a shared file: the same bytes from whoever encodes it.
std::vector<std::byte> encode_shared_head(const CombinedPage& page, const Schema& schema,
                                          std::span<const std::uint64_t> rows);

/// The region that a staged node file has in its shared file: its head under a record of its own, whole pages.
std::vector<std::byte> encode_region(const NodeFile& staged, std::span<const std::byte> image);

/// How the bytes of one block lie in its dataset: runs of one length, in ascending order in both.
class BlockRuns {
public:
    BlockRuns(const NodeFile& file, const Block& block);

    std::uint64_t count() const { return count_; }
    std::uint64_t bytes() const { return bytes_; }  // of each
    /// Where run `i` begins in the shared file.
    std::uint64_t offset_of(std::uint64_t i) const;
    /// The first run that ends after `offset` of the shared file, or count().
    std::uint64_t first_after(std::uint64_t offset) const;

private:
    std::uint64_t count_ = 0, bytes_ = 0, first_ = 0;
    int outer_ = 0;  // dimensions over which the runs are counted
    std::array<std::uint64_t, dims_max> sizes_{}, strides_{};
};

/// Bytes that follow each other both in the plain form and in the shared file.
struct Stretch {
    std::uint64_t plain_offset = 0;
    std::uint64_t offset = 0;  // in the shared file
    std::uint64_t bytes = 0;
    friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// The stretches of the bytes of variables within [offset, offset + bytes) of the plain form, by plain offset.
void for_each_stretch(const NodeFile& file, std::uint64_t offset, std::uint64_t bytes,
                      const std::function<bool(const Stretch&)>& visit);  // until it says false

}  // namespace forebay::format

// A shared file: all nodes of a snapshot in one HDF5 file. Each variable is one dataset of its global shape. A node's
// region holds only its head, and its bytes lie in the datasets. All places follow from the schema and the rows of all
// nodes, so agents write without communication. Bytes: docs/formats/shared-file.md, version 1. Pure functions on
// memory; opens no file.

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

/// The names of the datasets in a shared file.
enum class SharedNaming : std::uint32_t {
    own = 0,     // the names of the variables
    h5part = 1,  // columns as "Step#120/x", for readers of H5Part
};

inline constexpr const char* shared_file_name = "shared.h5";

/// The places of the regions and of each variable's dataset.
struct SharedPlan {
    SharedFile places;
    std::vector<std::uint64_t> offsets;  // of the datasets, one for each variable
};

/// Returns the bytes for a node's head and arrival, if the longest head may have `head_bytes`.
std::uint64_t shared_region_bytes(std::uint64_t head_bytes);

/// Returns the begin of the regions, after the HDF5 headers. It does not depend on the numbers in them.
std::uint64_t shared_heads_offset(const Schema& schema, SharedNaming naming);

/// `given` has every field except `file_bytes`. `rows` are the totals of all nodes, one for each table. Large variables
/// begin at multiples of the alignment, and smaller variables are packed before them.
SharedPlan place_shared(const Schema& schema, const SharedFile& given, std::span<const std::uint64_t> rows);

/// Returns the begin of one node's bytes in each dataset. `rows_before` are the rows of the nodes before it.
std::vector<std::uint64_t> own_offsets(const SharedPlan& plan, const Schema& schema,
                                       std::span<const std::uint64_t> rows_before);

/// Returns the paths of the datasets, one for each variable.
std::vector<std::string> shared_datasets(const Record& record, const Schema& schema);

/// Returns superblock, page and HDF5 headers of a shared file. Every caller gets the same bytes.
std::vector<std::byte> encode_shared_head(const CombinedPage& page, const Schema& schema,
                                          std::span<const std::uint64_t> rows);

/// Returns the region of a staged node file in its shared file: its head with a new record, in whole pages.
std::vector<std::byte> encode_region(const NodeFile& staged, std::span<const std::byte> image);

/// The bytes of one block in its dataset: runs of equal length, in ascending order in both.
class BlockRuns {
public:
    BlockRuns(const NodeFile& file, const Block& block);

    std::uint64_t count() const { return count_; }
    std::uint64_t bytes() const { return bytes_; }  // of each run
    /// Returns the begin of run `i` in the shared file.
    std::uint64_t offset_of(std::uint64_t i) const;
    /// The first run that ends after `offset` of the shared file, or count().
    std::uint64_t first_after(std::uint64_t offset) const;

private:
    std::uint64_t count_ = 0, bytes_ = 0, first_ = 0;
    int outer_ = 0;  // number of dimensions over which the runs are counted
    std::array<std::uint64_t, dims_max> sizes_{}, strides_{};
};

/// Bytes that are contiguous in the plain form and in the shared file.
struct Stretch {
    std::uint64_t plain_offset = 0;
    std::uint64_t offset = 0;  // in the shared file
    std::uint64_t bytes = 0;
    friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// Visits the stretches of variables within [offset, offset + bytes) of the plain form, by plain offset.
void for_each_stretch(const NodeFile& file, std::uint64_t offset, std::uint64_t bytes,
                      const std::function<bool(const Stretch&)>& visit);  // ends when it returns false

}  // namespace forebay::format

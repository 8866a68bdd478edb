// Files of packed streams: chosen by a request, with their places and bytes.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/format/packed.hpp"
#include "path/catalog/block_reader.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::cli {

struct PackedRequest {
    std::string place;                  // RUN, RUN/STREAM or RUN/STREAM@STEP
    std::vector<std::string> patterns;  // of paths, with * and ?; empty: all files
};

struct PackedSource {
    format::PackedFile file;
    catalog::Snapshot snapshot;  // the batch with the file
    std::size_t variable = 0;
    std::vector<std::int64_t> earlier =
        {};  // batches with another file of that path, as it was then or of another node
};

/// The requested files, from manifests only, ordered by batch. If several batches of a stream hold a path, the last
/// batch. Returns `missing` if the place has no packed files at all.
Result<std::vector<PackedSource>> packed_sources(sys::Store& store, const PackedRequest& request);

/// Reads and verifies files. For consecutive files of one batch the head is read once.
class PackedReader {
public:
    explicit PackedReader(sys::Store& store);
    /// Calls `use` with stretches of the file, in order.
    Result<> read(const PackedSource& source,
                  const std::function<Result<>(std::uint64_t at, std::span<const std::byte> bytes)>& use);

private:
    Result<> open(const catalog::Snapshot& snapshot);

    sys::Store& store_;
    std::string opened_;
    std::optional<catalog::BlockReader> reader_;
    catalog::BlockReader::Scratch scratch_;
    std::vector<std::byte> window_;
};

}  // namespace forebay::cli

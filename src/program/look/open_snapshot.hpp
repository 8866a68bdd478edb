// Committed snapshots that are read repeatedly: manifests, heads of node files and recently read segments stay in
// memory within the limits below.
//
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/sys/local_file.hpp"
#include "path/catalog/block_reader.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::cli {

/// Verified segments, most recently used first. Memory is allocated once for each kept segment and reused: memory that
/// one thread allocates and another frees would fragment.
class SegmentCache {
public:
    using Key = std::tuple<std::uint64_t, std::size_t, std::size_t, std::uint64_t>;  // snapshot, node, block, segment
    using Bytes = std::span<const std::byte>;                                        // valid until the next keep()

    explicit SegmentCache(std::size_t segments_max) : segments_max_(segments_max) {}
    std::optional<Bytes> find(const Key& key);
    Bytes keep(const Key& key, Bytes bytes);
    std::size_t count() const { return places_.size(); }

private:
    struct Kept {
        Key key;
        std::vector<std::byte> bytes;
    };
    std::list<Kept> order_;  // newest first
    std::map<Key, std::list<Kept>::iterator> places_;
    std::size_t segments_max_;
};

class OpenSnapshot {
public:
    /// Returns `missing` if it is removed meanwhile; otherwise errors of catalog::load_manifest().
    static Result<std::unique_ptr<OpenSnapshot>> open(sys::Store& store, catalog::Snapshot snapshot);

    const catalog::Snapshot& snapshot() const { return snapshot_; }
    const format::Manifest& manifest() const { return manifest_; }
    /// True if the manifest file is unchanged.
    bool is_current() const;

    /// The reader of a node file, valid until the next call. `node` is an index of manifest().nodes.
    Result<const catalog::BlockReader*> node(std::size_t node);
    /// A verified segment in the cache.
    Result<SegmentCache::Bytes> segment(std::size_t node, std::size_t block, std::uint64_t i, SegmentCache& cache);

private:
    OpenSnapshot(sys::Store& store, catalog::Snapshot snapshot, format::Manifest manifest, sys::LocalFile seen)
        : store_(store), snapshot_(std::move(snapshot)), manifest_(std::move(manifest)), seen_(seen) {}

    sys::Store& store_;
    catalog::Snapshot snapshot_;
    format::Manifest manifest_;
    sys::LocalFile seen_;
    std::map<std::size_t, catalog::BlockReader> readers_;
    catalog::BlockReader::Scratch scratch_;
    std::vector<std::byte> buffer_;
};

}  // namespace forebay::cli

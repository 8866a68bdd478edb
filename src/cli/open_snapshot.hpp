// Committed snapshots that somebody looks at again and again: their manifests, the heads of their node files and the
// segments that were read last stay in memory, as much as the limits below allow.
//
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "catalog/block_reader.hpp"
#include "catalog/catalog.hpp"
#include "sys/local_file.hpp"

namespace forebay::cli {

/// Verified segments, those that were asked for last.
class SegmentCache {
public:
    using Key = std::tuple<std::uint64_t, std::size_t, std::size_t, std::uint64_t>;  // snapshot, node, block, segment
    using Bytes = std::shared_ptr<const std::vector<std::byte>>;

    explicit SegmentCache(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
    Bytes find(const Key& key);
    void keep(const Key& key, Bytes bytes);
    std::uint64_t bytes() const { return bytes_; }

private:
    using Order = std::list<std::pair<Key, Bytes>>;
    Order order_;  // newest first
    std::map<Key, Order::iterator> places_;
    std::uint64_t bytes_max_, bytes_ = 0;
};

class OpenSnapshot {
public:
    /// `missing` where it is removed meanwhile; errors as catalog::load_manifest().
    static Result<std::unique_ptr<OpenSnapshot>> open(sys::Store& store, catalog::Snapshot snapshot);

    const catalog::Snapshot& snapshot() const { return snapshot_; }
    const format::Manifest& manifest() const { return manifest_; }
    /// Whether the manifest that was read is still the one that is there.
    bool is_current() const;

    /// The reader of a node file, valid until the next call. `node` counts in manifest().nodes.
    Result<const catalog::BlockReader*> node(std::size_t node);
    /// A segment, verified, by the cache.
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

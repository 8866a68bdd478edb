#include "program/look/open_snapshot.hpp"

#include <iterator>

#include "core/base/try.hpp"
#include "core/sys/far_module.hpp"

namespace forebay::cli {

namespace {

// Each keeps a descriptor and a head. For a plane through more nodes the heads are read again.
constexpr std::size_t readers_max = 64;

// Nothing for an object store, which has no files.
Result<sys::LocalFile> manifest_file(const catalog::Snapshot& snapshot) {
    if (sys::is_far(snapshot.directory)) return sys::LocalFile{};
    return sys::look_at(snapshot.directory + "/" + catalog::manifest_name);
}

}  // namespace

std::optional<SegmentCache::Bytes> SegmentCache::find(const Key& key) {
    const auto place = places_.find(key);
    if (place == places_.end()) return std::nullopt;
    order_.splice(order_.begin(), order_, place->second);
    return place->second->bytes;
}

SegmentCache::Bytes SegmentCache::keep(const Key& key, Bytes bytes) {
    if (order_.size() < segments_max_) {
        order_.emplace_front();
    } else {
        order_.splice(order_.begin(), order_, std::prev(order_.end()));
        places_.erase(order_.front().key);
    }
    auto& kept = order_.front();
    kept.key = key;
    kept.bytes.assign(bytes.begin(), bytes.end());
    places_[key] = order_.begin();
    return kept.bytes;
}

Result<std::unique_ptr<OpenSnapshot>> OpenSnapshot::open(sys::Store& store, catalog::Snapshot snapshot) {
    FB_TRY_ASSIGN(seen, manifest_file(snapshot));
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, snapshot.directory));
    return std::unique_ptr<OpenSnapshot>(new OpenSnapshot(store, std::move(snapshot), std::move(manifest), seen));
}

bool OpenSnapshot::is_current() const {
    if (sys::is_far(snapshot_.directory)) {
        const auto there = catalog::load_manifest(store_, snapshot_.directory);
        return there && there->snapshot_id == manifest_.snapshot_id;
    }
    const auto now = manifest_file(snapshot_);
    return now && *now == seen_;
}

Result<const catalog::BlockReader*> OpenSnapshot::node(std::size_t node) {
    if (const auto known = readers_.find(node); known != readers_.end()) return &known->second;
    auto reader = catalog::BlockReader::open(store_, snapshot_.directory, manifest_.nodes[node]);
    if (!reader) return reader.error();
    if (reader->head().schema != manifest_.schema)
        return Error{ErrorKind::corrupt, reader->name() + " is not the committed file", "",
                     "forebay verify " + snapshot_.directory};
    if (readers_.size() >= readers_max) readers_.clear();
    return &readers_.emplace(node, std::move(*reader)).first->second;
}

Result<SegmentCache::Bytes> OpenSnapshot::segment(std::size_t node, std::size_t block, std::uint64_t i,
                                                  SegmentCache& cache) {
    const SegmentCache::Key key{manifest_.snapshot_id, node, block, i};
    if (const auto known = cache.find(key)) return *known;
    FB_TRY_ASSIGN(reader, this->node(node));
    FB_TRY_ASSIGN(bytes, reader->segment(block, i, buffer_, scratch_));
    return cache.keep(key, bytes);
}

}  // namespace forebay::cli

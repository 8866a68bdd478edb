// Where the copies of one snapshot's node files are: in the memory of this node, as sealed slots, and at the target.
//
// A restart asks this object for a node file and need not know which copy it reads: a copy in memory is taken where
// there is one, until leave_memory(). Memory is this node's own, so nodes of one job may read different copies; they
// hold the same bytes, since a copy in memory counts only when its record is the one that was drained.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/format/manifest.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/node_reader.hpp"
#include "path/node/staging.hpp"

namespace forebay::catalog {

class Copies {
public:
    Copies() = default;
    /// The copies of the snapshot in `directory` of the target; "" when the target does not have it. `target` must
    /// outlive the Copies.
    Copies(sys::Store& target, std::string directory)
        : target_(&target), directory_(std::move(directory)), source_(directory_) {}

    /// Counts those of the staged files that are node files of the snapshot.
    void add_memory(const format::Manifest& manifest, std::span<const node::StagedFile> staged);
    /// From now on everything is read at the target, as after damage in memory.
    void leave_memory();

    /// "" when the target does not have the snapshot.
    const std::string& directory() const { return directory_; }
    /// The place for people: the directory, or the staged copy where all of the snapshot lies on this node.
    const std::string& source() const { return source_; }
    bool in_memory() const { return !memory_.empty(); }

    // Of one node file, which a line of the manifest names.
    bool in_memory(const format::NodeLine& line) const { return memory_.contains(line.node); }
    /// The copy's name in texts.
    std::string name_of(const format::NodeLine& line) const;
    /// The checksum that the copy's record must have.
    std::uint32_t record_crc32c(const format::NodeLine& line) const;
    /// At the target it is read from storage, as open_direct() reads.
    Result<NodeReader> open(const format::NodeLine& line) const;
    /// The bytes of a copy in memory, mapped by the first call.
    Result<sys::Mapping*> map(const format::NodeLine& line);
    /// Opens a copy at the target as open_line() does, to be read from storage.
    Result<std::unique_ptr<sys::File>> open_direct(const format::NodeLine& line) const;

private:
    struct InMemory {
        std::string path;
        sys::Mapping mapping;
    };

    sys::Store* target_ = nullptr;
    std::string directory_, source_;
    std::map<std::uint32_t, InMemory> memory_;  // by NodeLine::node
};

/// The manifest of a snapshot that one staged file is all of, as if it had been committed.
Result<format::Manifest> manifest_of_staged(const std::string& path);

}  // namespace forebay::catalog

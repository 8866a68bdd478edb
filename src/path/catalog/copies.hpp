// The places that have copies of one snapshot's node files: sealed slots in the memory of this node, and the target.
//
// A restart asks SnapshotCopies for a node file. The first place that has the file gives it: the fastest place comes
// first, and the target, which has all files, comes last. After damage, fall_back() makes the restart read everything
// at the target. Each node sees only its own memory, so nodes of one job may read different copies of a file. All
// copies have the same bytes, because a copy counts only if its record is the record of the drained file.
//
// To add a kind of place: write a class of Copies and its maker, and add it to SnapshotCopies in restart/choose.cpp.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/format/manifest.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/node_reader.hpp"
#include "path/node/staging.hpp"

namespace forebay::catalog {

/// The copies of one place. Except for has() and place(), call its functions only for a node file that it has. `line`
/// is the node file's line in the manifest. All ranks of a node get the same answers.
class Copies {
public:
    Copies() = default;
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;
    virtual ~Copies() = default;

    virtual bool has(const format::NodeLine& line) const = 0;
    /// The place, for people. Only if all files of the snapshot lie there.
    virtual std::string place() const = 0;
    /// The copy's name in texts.
    virtual std::string name_of(const format::NodeLine& line) const = 0;
    /// The checksum that the copy's record must have.
    virtual std::uint32_t record_crc32c(const format::NodeLine& line) const = 0;
    /// `corrupt` if the record differs. A place that found its copies by their records reads nothing.
    virtual Result<> check_record(const format::NodeLine& line) const = 0;
    /// Opens the file to read its head. A place in storage reads past the page cache.
    virtual Result<NodeReader> open(const format::NodeLine& line) const = 0;
    /// True if map() gives the bytes, at the speed of memory. If false, use open_direct() for a window.
    virtual bool is_mapped() const = 0;
    /// The bytes. The first call maps them.
    virtual Result<sys::Mapping*> map(const format::NodeLine& line) = 0;
    /// The bytes as a file, past the page cache.
    virtual Result<std::unique_ptr<sys::File>> open_direct(const format::NodeLine& line) const = 0;
};

/// Finds the node files of the snapshot among the staged files of this node; nullptr if there is none.
std::unique_ptr<Copies> copies_in_memory(const format::Manifest& manifest, std::span<const node::StagedFile> staged);

/// The copies of the snapshot in `directory` of the target, which has all files. `target` must outlive them.
std::unique_ptr<Copies> copies_at_target(sys::Store& target, const std::string& directory);

class SnapshotCopies {
public:
    SnapshotCopies() = default;
    /// Begins with the target as the only place. `directory` is "" if the target does not have the snapshot. `target`
    /// must outlive this object.
    SnapshotCopies(sys::Store& target, std::string directory);

    /// Adds a place after the places added before, but before the target. nullptr adds nothing. `manifest` is the
    /// manifest of the snapshot.
    void add(std::unique_ptr<Copies> place, const format::Manifest& manifest);
    /// From now on everything is read at the target. Call it after damage in another place.
    void fall_back();
    /// True if this node reads files from another place and the target has them too.
    bool can_fall_back() const { return !directory_.empty() && !faster_.empty(); }

    /// "" if the target does not have the snapshot.
    const std::string& directory() const { return directory_; }
    /// For people: the first place that has the whole snapshot.
    const std::string& source() const { return source_; }
    /// The place that gives this node file.
    Copies& of(const format::NodeLine& line) const;
    /// The target: all nodes see the same copy.
    Copies& at_target() const { return *target_; }

private:
    std::string directory_, source_;
    std::vector<std::unique_ptr<Copies>> faster_;
    std::unique_ptr<Copies> target_;
};

/// Makes the manifest of a snapshot that is one staged file, as if it were committed.
Result<format::Manifest> manifest_of_staged(const std::string& path);

}  // namespace forebay::catalog

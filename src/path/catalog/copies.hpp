// Where the copies of one snapshot's node files are, place by place: in the memory of this node, as sealed slots, and
// at the target.
//
// A restart asks SnapshotCopies for a node file and need not know which copy it reads: the first place that has the
// file gives it. The fastest place comes first and the target, which has all, comes last. After damage everything is
// read at the target, by fall_back(). Nodes of one job may read different copies of a file, since each sees its own
// memory; the copies hold the same bytes, because a copy counts only if its record is the one that was drained.
//
// A new kind of place is a class of Copies with its maker, added to SnapshotCopies where a restart chooses.

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

/// The copies that one place has. All questions but has() and place() are about a node file that it has; a line of the
/// manifest names it. The ranks of a node get the same answers.
class Copies {
public:
    Copies() = default;
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;
    virtual ~Copies() = default;

    virtual bool has(const format::NodeLine& line) const = 0;
    /// The place for people, if all of the snapshot lies there.
    virtual std::string place() const = 0;
    /// The copy's name in texts.
    virtual std::string name_of(const format::NodeLine& line) const = 0;
    /// The checksum that the copy's record must have.
    virtual std::uint32_t record_crc32c(const format::NodeLine& line) const = 0;
    /// `corrupt` if the record is another one. A place that has compared it to find its copies reads nothing.
    virtual Result<> check_record(const format::NodeLine& line) const = 0;
    /// For the head. A place of storage is read past the page cache.
    virtual Result<NodeReader> open(const format::NodeLine& line) const = 0;
    /// Whether map() gives the bytes, at the speed of memory; else open_direct() does, for a window.
    virtual bool is_mapped() const = 0;
    /// The bytes, mapped by the first call.
    virtual Result<sys::Mapping*> map(const format::NodeLine& line) = 0;
    /// The bytes as a file, past the page cache.
    virtual Result<std::unique_ptr<sys::File>> open_direct(const format::NodeLine& line) const = 0;
};

/// Of the staged files of this node those that are node files of the snapshot; nullptr if none is.
std::unique_ptr<Copies> copies_in_memory(const format::Manifest& manifest, std::span<const node::StagedFile> staged);

/// Of the snapshot in `directory` of the target, which has all. `target` must outlive the copies.
std::unique_ptr<Copies> copies_at_target(sys::Store& target, const std::string& directory);

class SnapshotCopies {
public:
    SnapshotCopies() = default;
    /// The target is the only place at first; `directory` is "" if it does not have the snapshot. `target` must outlive
    /// this.
    SnapshotCopies(sys::Store& target, std::string directory);

    /// Puts a place before the target and behind those that were added before; nullptr adds none. `manifest` is of the
    /// snapshot.
    void add(std::unique_ptr<Copies> place, const format::Manifest& manifest);
    /// From now on everything is read at the target, as after damage elsewhere.
    void fall_back();
    /// Whether this node reads something elsewhere that the target has too.
    bool can_fall_back() const { return !directory_.empty() && !faster_.empty(); }

    /// "" if the target does not have the snapshot.
    const std::string& directory() const { return directory_; }
    /// For people: the first place that has all of the snapshot.
    const std::string& source() const { return source_; }
    /// The place that gives this node file.
    Copies& of(const format::NodeLine& line) const;
    /// The place that all nodes see alike.
    Copies& at_target() const { return *target_; }

private:
    std::string directory_, source_;
    std::vector<std::unique_ptr<Copies>> faster_;
    std::unique_ptr<Copies> target_;
};

/// The manifest of a snapshot that one staged file is all of, as if it had been committed.
Result<format::Manifest> manifest_of_staged(const std::string& path);

}  // namespace forebay::catalog

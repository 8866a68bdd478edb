// The forms of node files (format/form.hpp) at the target: the arrived node files, the manifest's lines, the place of a
// node's bytes in an open file, and the head for HDF5 programs. Each form has a file: own.cpp, combined.cpp,
// shared.cpp. drain/forms has the code that brings a node file there.
//
// These objects have no state: any number of threads may call them at once.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/format/combined.hpp"
#include "core/format/manifest.hpp"
#include "core/format/segments.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/node_reader.hpp"

namespace forebay::catalog {

/// The snapshot to look for in a part directory.
struct WantedSnapshot {
    std::uint64_t snapshot_id = 0;
    std::int64_t step = 0;
    std::uint32_t nodes = 0;
    format::Form form = {};           // the form of one of its files: it does not give the regions of its other files
    std::uint64_t run_id = 0;         // 0: the run has no identity
    std::uint32_t look_first_at = 0;  // in files of several nodes, check the arrival of this node first
};

/// The node files that have arrived in a part directory.
struct Arrived {
    std::uint32_t files = 0;             // node files: under their final names, or arrived in files of several nodes
    std::optional<std::uint32_t> nodes;  // the expected number, from one of them; empty if none arrived
    std::optional<format::Record> record = {};  // the record of an arrived node file
};

/// Takes the heads of all nodes in the order of nodes. `path` is the path of the file, as in format::NodeLine. `name`
/// is the node file's name in texts.
using AddHead = std::function<Result<>(const format::NodeFile& head, std::uint32_t node, const std::string& path,
                                       const std::string& name)>;

/// The first bytes that a file of several nodes must have. HDF5 programs find its content by them.
struct ShownHead {
    std::vector<std::byte> bytes;
    std::uint64_t file_bytes = 0;
};

class FileForm {
public:
    virtual ~FileForm() = default;

    /// True if a file of this form may have this name, in a snapshot's directory or in a directory below it.
    virtual bool is_named(const std::string& name) const = 0;
    /// Adds the arrived node files in the file at `path`. Reads 8 KiB of one node file, and a page for each region.
    virtual Result<> look(sys::Store& store, const std::string& path, Arrived& arrived) const = 0;
    /// Returns a node that is missing in `directory`: its file does not have its final name yet, or the node has not
    /// arrived in its shared file. Empty if no node is missing. For own files it lists each directory up to the first
    /// incomplete directory and opens nothing. For files of several nodes it reads a page for each node up to the first
    /// absent node.
    virtual Result<std::optional<std::uint32_t>> absent(sys::Store& store, const std::string& directory,
                                                        const WantedSnapshot& wanted) const = 0;
    /// Reads the heads of all nodes and passes them to `add`. Then it writes the head for HDF5 programs, durably; every
    /// caller writes the same bytes. `refused` if a file is not of this snapshot or contradicts itself; other errors as
    /// load_head().
    virtual Result<> assemble(sys::Store& store, const std::string& directory, const WantedSnapshot& wanted,
                              const AddHead& add) const = 0;

    /// The node's part of an open file, for PlainBytes: the whole file, or only the node's region.
    virtual std::unique_ptr<sys::File> part_of(std::unique_ptr<sys::File> file, const format::NodeLine&) const {
        return file;
    }
    /// The reader of a file from part_of(). `name` is for texts.
    virtual Result<NodeReader> reader_of(std::unique_ptr<sys::File> part, const format::NodeLine&,
                                         const std::string& name) const {
        return NodeReader::open(std::move(part), name, NodeReader::Length::exact);
    }
    /// The first and the last byte of a segment in its file. The node file begins at byte `base` of the file.
    virtual std::pair<std::uint64_t, std::uint64_t> bounds_of(const format::NodeFile&, const format::Segment& segment,
                                                              std::uint64_t base) const {
        return {base + segment.offset, base + segment.offset + segment.bytes - 1};
    }
    /// The head that the file must have, returned for the last node of the file; empty before, and for a file with only
    /// one node. Call it for each line in order. It keeps the regions of the same file in `seen` between calls.
    virtual std::optional<ShownHead> shown(const format::Manifest&, const format::NodeLine&, const format::NodeFile&,
                                           std::vector<format::Region>& seen) const {
        seen.clear();
        return {};
    }
    /// The paths of the datasets with whole variables, one for each variable; empty if each node has its own datasets.
    virtual std::vector<std::string> datasets(const format::NodeFile&) const { return {}; }
};

const FileForm& own_form();
const FileForm& combined_form();
const FileForm& shared_form();

std::span<const FileForm* const> all_forms();
const FileForm& form_of(format::FormKind kind);
inline const FileForm& form_of(const format::Form& form) { return form_of(format::kind_of(form)); }

/// `refused`: a file in a part directory belongs to something else.
Error not_of_this(const std::string& path, const std::string& why);

}  // namespace forebay::catalog

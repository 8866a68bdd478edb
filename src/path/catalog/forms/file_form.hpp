// The forms of a save's files (format/form.hpp), as they differ at the target: what of a snapshot has come, what its
// manifest is made of, where in an open file a node's bytes are, and what HDF5 programs are shown. A file a form:
// own.cpp, combined.cpp, shared.cpp. The way in which an agent brings a node file is in drain/forms.
//
// Objects of these classes hold nothing: any number of threads may call them at once.

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

/// The snapshot whose files are looked for in a part directory.
struct WantedSnapshot {
    std::uint64_t snapshot_id = 0;
    std::int64_t step = 0;
    std::uint32_t nodes = 0;
    format::Form form = {};           // of any of its files: where the regions of one lie says nothing of the others
    std::uint64_t run_id = 0;         // of the run; 0: it has no identity
    std::uint32_t look_first_at = 0;  // the node whose arrival is checked first in files of several nodes
};

/// The node files that have arrived in a part directory.
struct Arrived {
    std::uint32_t files = 0;                    // node files: under their final names, or arrived in files of several
    std::optional<std::uint32_t> nodes;         // how many there are to be, as one of them says; nothing without any
    std::optional<format::Record> record = {};  // of one that has arrived
};

/// Takes the heads of all nodes in their order. `path` is that of the file, as in format::NodeLine; `name` names the
/// node file in texts.
using AddHead = std::function<Result<>(const format::NodeFile& head, std::uint32_t node, const std::string& path,
                                       const std::string& name)>;

/// The begin that a file of several nodes must have, by which HDF5 programs find what is in it.
struct ShownHead {
    std::vector<std::byte> bytes;
    std::uint64_t file_bytes = 0;
};

class FileForm {
public:
    virtual ~FileForm() = default;

    /// Whether a file of this form may have this name, in the directory of a snapshot or in a folder of it.
    virtual bool is_named(const std::string& name) const = 0;
    /// Adds what of the file at `path` has arrived. Reads 8 KiB of one node file, and a page a region.
    virtual Result<> look(sys::Store& store, const std::string& path, Arrived& arrived) const = 0;
    /// A node whose file is not in `directory` under its final name, or has not arrived in the file that it shares;
    /// nothing when all are there. Of files of their own it lists one directory for each folder up to the first
    /// incomplete one and opens nothing; of others it reads a page a node, up to the first that is absent.
    virtual Result<std::optional<std::uint32_t>> absent(sys::Store& store, const std::string& directory,
                                                        const WantedSnapshot& wanted) const = 0;
    /// Reads the heads of all nodes and hands them to `add`; then writes, durably, what HDF5 programs are shown: the
    /// same bytes whoever does it. `refused` when a file is not of this snapshot or contradicts itself, else as
    /// load_head().
    virtual Result<> assemble(sys::Store& store, const std::string& directory, const WantedSnapshot& wanted,
                              const AddHead& add) const = 0;

    /// The node's part of an open file, as PlainBytes reads it: the file, or its region alone.
    virtual std::unique_ptr<sys::File> part_of(std::unique_ptr<sys::File> file, const format::NodeLine&) const {
        return file;
    }
    /// The reader of what part_of() gave; `name` is for texts.
    virtual Result<NodeReader> reader_of(std::unique_ptr<sys::File> part, const format::NodeLine&,
                                         const std::string& name) const {
        return NodeReader::open(std::move(part), name, NodeReader::Length::exact);
    }
    /// The first and the last byte of a segment in its file, of which the node file begins at `base`.
    virtual std::pair<std::uint64_t, std::uint64_t> bounds_of(const format::NodeFile&, const format::Segment& segment,
                                                              std::uint64_t base) const {
        return {base + segment.offset, base + segment.offset + segment.bytes - 1};
    }
    /// The begin that the file must have, once it is asked of its last node; nothing before, and of a file that shows
    /// no more than its node. The lines are asked in order; what is `seen` of the same file is kept between them.
    virtual std::optional<ShownHead> shown(const format::Manifest&, const format::NodeLine&, const format::NodeFile&,
                                           std::vector<format::Region>& seen) const {
        seen.clear();
        return {};
    }
    /// The paths of the datasets that show whole variables, one a variable; none where each node shows its own part.
    virtual std::vector<std::string> datasets(const format::NodeFile&) const { return {}; }
};

const FileForm& own_form();
const FileForm& combined_form();
const FileForm& shared_form();

std::span<const FileForm* const> all_forms();
const FileForm& form_of(format::FormKind kind);
inline const FileForm& form_of(const format::Form& form) { return form_of(format::kind_of(form)); }

/// `refused`: a file in a part directory that belongs to something else.
Error not_of_this(const std::string& path, const std::string& why);

}  // namespace forebay::catalog

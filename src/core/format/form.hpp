// The form of a save's files: how its nodes lie in files at the target, and where in its file each of them lies. The
// record of every node file says it. Pure functions on memory.
//
// Each form has a file in stage/forms (where a save's node files lie), drain/forms (bringing them to the target) and
// catalog/forms (what has come there, reading, assembling). A new form is a structure here, its fields in the record
// (format/form_record.cpp), and one file in each of those three folders.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "core/base/check.hpp"
#include "core/base/limits.hpp"

namespace forebay::format {

/// Each node has a file of its own: "node-00003.h5".
struct OwnFile {
    friend bool operator==(const OwnFile&, const OwnFile&) = default;
};

/// Where the regions of one file begin, and the file's size. Has room for the most there can be, since a save, which
/// places them anew, takes no memory.
class Offsets {
public:
    Offsets() = default;
    Offsets(std::initializer_list<std::uint64_t> values) : Offsets(std::span(values.begin(), values.size())) {}
    /// At most limits::nodes_per_file_max + 1 values.
    explicit Offsets(std::span<const std::uint64_t> values) {
        for (const auto value : values) push_back(value);
    }

    void push_back(std::uint64_t value) {
        FB_CHECK(size_ < values_.size(), "no room for the region of another node");
        values_[size_++] = value;
    }
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    std::uint64_t operator[](std::size_t i) const { return values_[i]; }
    std::uint64_t back() const { return values_[size_ - 1]; }
    const std::uint64_t* begin() const { return values_.data(); }
    const std::uint64_t* end() const { return values_.data() + size_; }
    friend bool operator==(const Offsets& a, const Offsets& b) { return std::ranges::equal(a, b); }

private:
    std::size_t size_ = 0;
    std::array<std::uint64_t, limits::nodes_per_file_max + 1> values_{};
};

/// Several nodes have one file, "nodes-00000-00015.h5", in which their node files lie side by side, unchanged, each in
/// a region of its own. The same in all records of one file. Bytes: docs/formats/combined-file.md.
struct CombinedFile {
    std::uint32_t nodes_per_file = 2;  // as asked for; the last file of a save may have fewer
    std::uint32_t first_node = 0;      // of this file
    Offsets offsets = {};              // of each node's region, then the size of the file; empty: is_alone()

    /// Whether one node alone has the last file of a save, which is a node file then, as in OwnFile: of 5 nodes, 2 a
    /// file, node 4.
    bool is_alone() const { return offsets.empty(); }
    std::uint32_t nodes() const { return is_alone() ? 1 : static_cast<std::uint32_t>(offsets.size() - 1); }
    friend bool operator==(const CombinedFile&, const CombinedFile&) = default;
};

/// All nodes have one file, "shared.h5", in which each variable is one dataset; the region of a node holds its head
/// alone. The same in all records of a save. Bytes: docs/formats/shared-file.md.
struct SharedFile {
    std::uint32_t nodes = 0;
    std::uint32_t naming = 0;           // SharedNaming
    std::uint64_t heads_offset = 0;     // the region of node 0
    std::uint64_t region_bytes = 0;     // of each node: its head and its arrival
    std::uint64_t alignment_bytes = 0;  // at whose multiples large variables begin
    std::uint64_t file_bytes = 0;
    friend bool operator==(const SharedFile&, const SharedFile&) = default;
};

using Form = std::variant<OwnFile, CombinedFile, SharedFile>;

/// Which of them, where it stands without its numbers: in the order of Form.
enum class FormKind : std::uint8_t { own, combined, shared };
constexpr FormKind kind_of(const Form& form) { return static_cast<FormKind>(form.index()); }
/// The kind of the very file that a node has: `own` for a node that is alone in the last of the combined files.
FormKind kind_of_file(const Form& form);

/// The nodes of one file are first_node() to first_node() + nodes_in() - 1. A file of its own has the node whose record
/// it is: there the first is 0 and the number 1.
std::uint32_t first_node(const Form& form);
std::uint32_t nodes_in(const Form& form);

/// Where in its file the region of a node begins; 0 where the file is its node file.
std::uint64_t region_offset(const Form& form, std::uint32_t node);
/// The last page of a node's region. Written after the sync of the region, it says that the region is durable. Only of
/// files with regions, as length_of().
std::uint64_t arrival_offset(const Form& form, std::uint32_t node);
/// The length of a file with regions. All of its nodes know it before the first of them writes.
std::uint64_t length_of(const Form& form);

/// What is wrong with a file of a snapshot of `nodes` nodes; nothing when it can be.
std::optional<std::string> fault_in(const CombinedFile& file, std::uint32_t nodes);
std::optional<std::string> fault_in(const SharedFile& file, std::uint32_t nodes);

/// The file of a node, below the snapshot's directory: "node-00003.h5", "nodes-00000-00015.h5" or "shared.h5". With
/// more than limits::nodes_per_directory files of the first two they are in folders: "g000/node-00003.h5".
std::string node_path(std::uint32_t node, std::uint32_t nodes, const Form& form = OwnFile{});

}  // namespace forebay::format

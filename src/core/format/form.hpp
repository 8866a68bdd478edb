// The form of a save's files: how the nodes share files at the target, and the place of each node in its file. The
// record of every node file has it. Pure functions on memory.
//
// Each form has a file in stage/forms (places of a save's node files), drain/forms (writing to the target) and
// catalog/forms (arrivals, reading, assembling). To add a form, add a structure here, its fields in the record
// (format/form_record.cpp), and a file in each of these directories.

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

/// Each node has its own file, "node-00003.h5".
struct OwnFile {
    friend bool operator==(const OwnFile&, const OwnFile&) = default;
};

/// The begins of the regions of one file, then the file's size. It has room for the largest number, because each save
/// sets them again and allocates no memory.
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

/// Several nodes have one file, "nodes-00000-00015.h5". Their node files lie in it unchanged, each in its own region.
/// This is equal in all records of the file. Bytes: docs/formats/combined-file.md.
struct CombinedFile {
    std::uint32_t nodes_per_file = 2;  // as requested; the last file of a save may have fewer
    std::uint32_t first_node = 0;      // of this file
    Offsets offsets = {};              // of each node's region, then the size of the file; empty: is_alone()

    /// Returns true if the last file of a save has only one node. It is then a node file, as in OwnFile. Example: with
    /// 5 nodes, 2 in a file, node 4 is alone.
    bool is_alone() const { return offsets.empty(); }
    std::uint32_t nodes() const { return is_alone() ? 1 : static_cast<std::uint32_t>(offsets.size() - 1); }
    friend bool operator==(const CombinedFile&, const CombinedFile&) = default;
};

/// All nodes have one file, "shared.h5". Each variable is one dataset, and the region of a node holds only its head.
/// This is equal in all records of the save. Bytes: docs/formats/shared-file.md.
struct SharedFile {
    std::uint32_t nodes = 0;
    std::uint32_t naming = 0;           // SharedNaming
    std::uint64_t heads_offset = 0;     // the begin of the region of node 0
    std::uint64_t region_bytes = 0;     // of each node, for its head and its arrival
    std::uint64_t alignment_bytes = 0;  // large variables begin at multiples of this
    std::uint64_t file_bytes = 0;
    friend bool operator==(const SharedFile&, const SharedFile&) = default;
};

using Form = std::variant<OwnFile, CombinedFile, SharedFile>;

/// The form without its numbers, in the order of Form.
enum class FormKind : std::uint8_t { own, combined, shared };
constexpr FormKind kind_of(const Form& form) { return static_cast<FormKind>(form.index()); }
/// The form of the node's actual file: `own` if the node is alone in the last combined file.
FormKind kind_of_file(const Form& form);

/// The nodes of one file are first_node() to first_node() + nodes_in() - 1. A file of its own holds the node of its
/// record: then the first is 0 and the number 1.
std::uint32_t first_node(const Form& form);
std::uint32_t nodes_in(const Form& form);

/// Returns the begin of the node's region in its file, or 0 if the file is its node file.
std::uint64_t region_offset(const Form& form, std::uint32_t node);
/// Returns the offset of the last page of a node's region. The page is written after the sync of the region, and shows
/// that the region is durable. Only for files with regions.
std::uint64_t arrival_offset(const Form& form, std::uint32_t node);
/// Returns the length of a file with regions. All its nodes know it before the first write. Only for files with
/// regions.
std::uint64_t length_of(const Form& form);

/// Returns the fault of a file in a snapshot of `nodes` nodes, or nothing.
std::optional<std::string> fault_in(const CombinedFile& file, std::uint32_t nodes);
std::optional<std::string> fault_in(const SharedFile& file, std::uint32_t nodes);

/// Returns the file of a node, below the snapshot's directory: "node-00003.h5", "nodes-00000-00015.h5" or "shared.h5".
/// If the first two kinds have more than limits::nodes_per_directory files, they lie in directories:
/// "g000/node-00003.h5".
std::string node_path(std::uint32_t node, std::uint32_t nodes, const Form& form = OwnFile{});

}  // namespace forebay::format

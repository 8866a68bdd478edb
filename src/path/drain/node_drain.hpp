// Drains one sealed node file: from the node's mapping, verified, to its place in the snapshot's part directory.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/format/node_file.hpp"
#include "core/move/writer.hpp"
#include "core/sys/store.hpp"

namespace forebay::drain {

struct CompressionMemory;

struct NodeDrain {
    sys::Store* store = nullptr;
    std::string run;
    move::WriteOptions write;
    bool direct = true;
    std::atomic<std::uint64_t>* done_bytes = nullptr;  // of the staged form
    std::uint64_t* stored_bytes = nullptr;             // what was written, once it is durable
    CompressionMemory* compression = nullptr;          // null: node files stay plain
    std::optional<double> seconds_left = {};           // for compressing; nothing: not known
    std::function<void(const std::string&)> log;       // what was compressed and how
    const std::atomic<bool>* stop = nullptr;
};

/// What is to be written of a node file, checked against its segments: for move::write_ranges.
move::Check check_of(const format::NodeFile& file, std::span<const std::byte> image, const std::string& name);

/// The parts of a node file worth writing: its head and what its variables use, in whole pages; spare capacity of a
/// MiB or more is left out and becomes a hole.
std::vector<move::ByteRange> used_ranges(const format::NodeFile& file);

/// Whether a staged node file is sealed and every segment what the application gave; else `corrupt` or `missing`.
Result<> check_image(std::span<const std::byte> image, const std::string& name);

/// Checks every segment against the staged checksums before it is written, compressed or as it is; then bytes, sync,
/// name, sync of the directory. When this returns without error, the file is durable under its name in the part
/// directory. A node file that is there already from this very save is left as it is. `corrupt` when the staged bytes
/// are not what the application gave: nothing is left under the final name. `image` is the mapping of the staged file,
/// `name` its path.
Result<> drain_node_file(const NodeDrain& drain, std::span<const std::byte> image, const std::string& name);

}  // namespace forebay::drain

// Drains one sealed node file: verified, from the node's mapping to its place in the snapshot's part directory.

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
    std::uint64_t* stored_bytes = nullptr;             // written and durable
    CompressionMemory* compression = nullptr;          // null: node files stay plain
    std::optional<double> seconds_left = {};           // for compressing; empty: unknown
    std::function<void(const std::string&)> log;       // reports compressed bytes and efforts
    const std::atomic<bool>* stop = nullptr;
};

/// For move::write_ranges: checks the bytes of a node file against its segments before they are written.
move::Check check_of(const format::NodeFile& file, std::span<const std::byte> image, const std::string& name);

/// The parts of a node file to write, in whole pages: its head and the used bytes of its variables. Unused capacity of
/// a MiB or more becomes a hole.
std::vector<move::ByteRange> used_ranges(const format::NodeFile& file);

/// Succeeds if a staged node file is sealed and every segment equals the application's data; else `corrupt` or
/// `missing`.
Result<> check_image(std::span<const std::byte> image, const std::string& name);

/// Checks every segment against the staged checksums before it writes it, compressed or plain. Then: bytes, sync, name,
/// sync of the directory. After success the file is durable under its name in the part directory. A node file that is
/// already there from this same save stays. `corrupt` if the staged bytes differ from the application's data: then no
/// file has the final name. `image` is the mapping of the staged file, `name` its path.
Result<> drain_node_file(const NodeDrain& drain, std::span<const std::byte> image, const std::string& name);

}  // namespace forebay::drain

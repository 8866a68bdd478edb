// Every limit of Forebay, with its reason. A number that bounds a queue, a name, a wait or a buffer stands here, or its
// default does if it is a setting.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace forebay::limits {

// A segment is the unit of the checksum: small enough to stay in a core's L2 between copy and check, large enough that
// its checksum costs nothing (4 bytes for each MiB).
inline constexpr std::uint64_t segment_bytes = 1u << 20;

// Small pages on every machine we know; O_DIRECT needs this alignment too.
inline constexpr std::uint64_t page_bytes = 4096;
// Huge pages of x86-64 and of aarch64 with 4 KiB granules.
inline constexpr std::uint64_t huge_page_bytes = 2u << 20;
// Variables smaller than this are packed at cache lines, not pages: PALM saves 192 scalars a step.
inline constexpr std::uint64_t packed_variable_bytes = 64u << 10;
inline constexpr std::uint64_t cache_line_bytes = 64;
// Pieces of boxes that are gathered at once for a shared file: some MiB for their places.
inline constexpr std::uint64_t gathered_pieces_max = 1u << 16;

// HDF5's symbol table nodes count their entries in 16 bits, and a group is one node here.
inline constexpr std::size_t variables_max = 30'000;
// Fits a path component on every file system and leaves room for groups.
inline constexpr std::size_t name_bytes_max = 255;
// A fixed string is a label, not a document.
inline constexpr std::uint32_t string_bytes_max = 65'536;
// One attribute is one HDF5 version-1 object header message, which ends at 64 KiB.
inline constexpr std::size_t attribute_bytes_max = 60'000;
// An object header counts its messages in 16 bits, and readers go through all of them.
inline constexpr std::size_t attributes_max = 1'000;
// One rank's boxes of one variable; block tables stay small enough to read whole.
inline constexpr std::size_t pieces_per_rank_max = 65'536;
// For every step there must be a larger number: "the newest step below a number" can then mean any step.
inline constexpr std::int64_t step_max = INT64_MAX - 1;
// The least that each of several threads copies: waking a thread takes as long as copying half of it
// (docs/decisions/threads-that-copy.md).
inline constexpr std::uint64_t bytes_a_thread_min = 2u << 20;
// Threads of a rank that copy: twice as many as saturate the memory of the widest socket that we have read of.
inline constexpr int copy_threads_max = 256;
// A directory of a snapshot holds at most this many node files.
inline constexpr std::uint32_t nodes_per_directory = 128;
inline constexpr std::uint32_t nodes_max = 1u << 20;
// Nodes that share a file: their places fit the record page of each, with as much to spare.
inline constexpr std::uint32_t nodes_per_file_max = 256;
// Regions of a combined file begin at its multiples: whole stripes or locks of the file systems that we know.
inline constexpr std::uint64_t region_alignment_bytes = 2u << 20;
inline constexpr std::uint32_t ranks_per_node_max = 65'536;

// Rows that a new layout adds to the present rows of the ranks, so that growing counts keep their addresses: a tenth.
// VPIC saw an imbalance between dumps of up to 15 % a rank, but far less a node.
inline constexpr std::uint64_t headroom_percent = 10;
// At least this many: an empty table must be able to get its first rows without a new layout.
inline constexpr std::uint64_t headroom_rows_min = 1024;

// One read of verify(): several segments, long enough for a spinning disk, short enough for a login node.
inline constexpr std::uint64_t verify_window_bytes = 8u << 20;
// Up to about this size, reading over a gap between blocks is cheaper than a second read.
inline constexpr std::uint64_t verify_gap_bytes = 64u << 10;

// Encoded heads of node files that a rank keeps between the reads of single variables: 19 nodes of 300 variables and 48
// ranks (bench plan: 848 kB each). The heads of more nodes are read again for each variable.
inline constexpr std::uint64_t kept_heads_bytes = 16u << 20;

// How long a client of a network file system may see an old state of a directory: acdirmax of NFS by default; sshfs
// keeps 20 s. After a rename by another host, a file counts as lost only after this time.
inline constexpr std::chrono::seconds names_stay_max{60};

// An agent's log in the node's memory, before it is moved aside: some 7,000 lines, which are 3,500 saves.
inline constexpr std::uint64_t log_bytes_max = 1u << 20;

// The most that a decoder accepts before it allocates; a file that claims more is corrupt.
inline constexpr std::uint64_t head_bytes_max = 4ull << 30;
inline constexpr std::uint64_t session_bytes_max = 1u << 20;
inline constexpr std::uint64_t manifest_bytes_max = 1ull << 30;

}  // namespace forebay::limits

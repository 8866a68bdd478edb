// The contents of a foreign file in Forebay's terms: variables, the owner of each box, and the place of each block's
// bytes. A decoder makes it and reads only samples of the data. import_snapshot() moves the data. Plain values.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/describe/schema.hpp"
#include "core/format/layout.hpp"
#include "core/sys/store.hpp"
#include "insight/foreign/choices.hpp"
#include "insight/foreign/sealed_block.hpp"

namespace forebay::foreign {

/// The place of one block's bytes: runs at equal distances. They lie in the ranges of one file, joined end to end, or
/// in a block of the file with its own checksum.
struct Origin {
    std::uint32_t file = 0;  // index into Contents::files
    std::vector<Range> ranges;
    std::optional<Sealed> sealed = {};  // instead of ranges
    std::uint64_t first = 0;            // start of the first run, in the ranges
    std::uint64_t run_bytes = 0;
    std::uint64_t stride_bytes = 0;  // from one run's start to the next run's start
    std::uint64_t runs = 0;

    std::uint64_t bytes() const { return run_bytes * runs; }
    std::uint64_t source_bytes() const;  // of the ranges or the sealed block
};

/// The ranges as a single run.
Origin whole(std::uint32_t file, std::vector<Range> ranges);

/// Reads bytes [position, position + out.size()) of a block. Read a sealed block front to back, in whole elements, once
/// to its end before the next block. Then all of it is checked.
class OriginReader {
public:
    Result<> read(sys::File& file, const Origin& origin, std::uint64_t position, std::span<std::byte> out);

private:
    Result<> read_sealed(sys::File& file, const Origin& origin, std::uint64_t position, std::span<std::byte> out);

    SealedReader sealed_;
    std::vector<std::byte> scratch_;  // several short runs with the gaps between them
};

/// Reads from ranges joined end to end; `corrupt` past their end.
Result<> read_ranges(sys::File& file, std::span<const Range> ranges, std::uint64_t position, std::span<std::byte> out);

/// True if both have the same bytes. Uses two windows of memory.
Result<bool> equal_ranges(sys::File& file, std::span<const Range> a, std::span<const Range> b);

struct ForeignContents {
    std::vector<std::string> files;
    bool big_endian = false;
    Schema schema;                        // without its stream
    std::vector<format::RankPart> parts;  // by rank
    std::vector<Origin> origins;          // one a block, in the order of format::Layout::blocks
    std::vector<std::string> reasons;     // one a variable: the source of its type and shape
    std::vector<std::string> notes;       // for the user to check
    std::optional<std::int64_t> step;     // from the file
    double time = 0;

    std::uint64_t bytes() const;
};

/// Reverses the bytes of each number in `bytes`. `bytes` must hold whole elements of `type`.
void swap_numbers(Type type, std::span<std::byte> bytes);

/// `broken` if the origins' sizes differ from the layout's block sizes: that is a mistake of the decoder. `refused` for
/// names and shapes that a snapshot cannot have.
Result<format::Layout> lay_out(const ForeignContents& contents, const std::string& stream);

}  // namespace forebay::foreign

// What somebody else's file holds, in Forebay's words: variables, who owns which box, and where each block's bytes lie.
// Made by a decoder, which reads no data but samples; import_snapshot() moves the data. Plain values.

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

/// Where one block's bytes lie: runs at equal distances in the ranges of one file, taken end to end, or in a block of
/// it that has a checksum.
struct Origin {
    std::uint32_t file = 0;  // index into Contents::files
    std::vector<Range> ranges;
    std::optional<Sealed> sealed = {};  // instead of ranges
    std::uint64_t first = 0;            // of the first run, in the ranges
    std::uint64_t run_bytes = 0;
    std::uint64_t stride_bytes = 0;  // from one run's first byte to the next one's
    std::uint64_t runs = 0;

    std::uint64_t bytes() const { return run_bytes * runs; }
    std::uint64_t source_bytes() const;  // that the runs lie in
};

/// All of the ranges, as they are.
Origin whole(std::uint32_t file, std::vector<Range> ranges);

/// Reads bytes [position, position + out.size()) of a block. A sealed one is read front to back, in whole elements, and
/// once to its end before the next one begins: then all of it is checked.
class OriginReader {
public:
    Result<> read(sys::File& file, const Origin& origin, std::uint64_t position, std::span<std::byte> out);

private:
    Result<> read_sealed(sys::File& file, const Origin& origin, std::uint64_t position, std::span<std::byte> out);

    SealedReader sealed_;
    std::vector<std::byte> scratch_;  // of several short runs and what lies between them
};

/// Reads from ranges taken end to end; `corrupt` past their end.
Result<> read_ranges(sys::File& file, std::span<const Range> ranges, std::uint64_t position, std::span<std::byte> out);

/// Whether both have the same bytes, read through two windows.
Result<bool> equal_ranges(sys::File& file, std::span<const Range> a, std::span<const Range> b);

struct ForeignContents {
    std::vector<std::string> files;
    bool big_endian = false;
    Schema schema;                        // without its stream
    std::vector<format::RankPart> parts;  // by rank
    std::vector<Origin> origins;          // one a block, in the order of format::Layout::blocks
    std::vector<std::string> reasons;     // one a variable: how its type and shape were found
    std::vector<std::string> notes;       // what a person should look at
    std::optional<std::int64_t> step;     // as the file says
    double time = 0;

    std::uint64_t bytes() const;
};

/// Reverses the bytes of each number in `bytes`, which holds whole elements of `type`.
void swap_numbers(Type type, std::span<std::byte> bytes);

/// `corrupt` unless sizes of origins and of a layout's blocks agree: what a decoder promises. `refused` for names and
/// shapes that a snapshot cannot have.
Result<format::Layout> lay_out(const ForeignContents& contents, const std::string& stream);

}  // namespace forebay::foreign

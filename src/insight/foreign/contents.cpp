#include "insight/foreign/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::foreign {

namespace {

std::uint64_t bytes_in(std::span<const Range> ranges) {
    std::uint64_t bytes = 0;
    for (const auto& range : ranges) bytes += range.bytes;
    return bytes;
}

// The bytes of one number. In a complex number each part is swapped by itself.
std::size_t number_bytes(Type type) {
    switch (type.scalar) {
        case Scalar::string: return 1;
        case Scalar::c64: return 4;
        case Scalar::c128: return 8;
        default: return type.size_bytes;
    }
}

}  // namespace

Origin whole(std::uint32_t file, std::vector<Range> ranges) {
    const auto bytes = bytes_in(ranges);
    return {
        .file = file, .ranges = std::move(ranges), .first = 0, .run_bytes = bytes, .stride_bytes = bytes, .runs = 1};
}

Result<> read_ranges(sys::File& file, std::span<const Range> ranges, std::uint64_t position, std::span<std::byte> out) {
    for (const auto& range : ranges) {
        if (position >= range.bytes) {
            position -= range.bytes;
            continue;
        }
        const auto now = std::min<std::uint64_t>(out.size(), range.bytes - position);
        FB_TRY(file.read(range.offset + position, out.first(now)));
        out = out.subspan(now);
        position = 0;
        if (out.empty()) return {};
    }
    if (out.empty()) return {};
    return Error{ErrorKind::corrupt, fmt::format("{} bytes lie past the end of the data.", out.size())};
}

Result<bool> equal_ranges(sys::File& file, std::span<const Range> a, std::span<const Range> b) {
    const auto bytes = bytes_in(a);
    if (bytes_in(b) != bytes) return false;
    std::vector<std::byte> first(std::min(bytes, limits::window_bytes)), second(first.size());
    for (std::uint64_t at = 0; at < bytes; at += first.size()) {
        const auto now = std::min<std::uint64_t>(first.size(), bytes - at);
        FB_TRY(read_ranges(file, a, at, std::span(first).first(now)));
        FB_TRY(read_ranges(file, b, at, std::span(second).first(now)));
        if (!std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(now), second.begin())) return false;
    }
    return true;
}

std::uint64_t Origin::source_bytes() const { return sealed ? sealed->plain_bytes : bytes_in(ranges); }

Result<> OriginReader::read_sealed(sys::File& file, const Origin& origin, std::uint64_t position,
                                   std::span<std::byte> out) {
    // The checksum starts with the block's first byte.
    if (position == 0) FB_TRY(sealed_.begin(file, *origin.sealed));
    if (origin.run_bytes == origin.stride_bytes) return sealed_.next(out);
    // Takes one element of each record, but reads all records, to check the checksum.
    scratch_.resize(std::max(limits::window_bytes / origin.stride_bytes, std::uint64_t{1}) * origin.stride_bytes);
    while (!out.empty()) {
        const auto records =
            std::min<std::uint64_t>(out.size(), scratch_.size() / origin.stride_bytes * origin.run_bytes) /
            origin.run_bytes;
        FB_TRY(sealed_.next(std::span(scratch_).first(records * origin.stride_bytes)));
        for (std::uint64_t i = 0; i < records; ++i)
            std::memcpy(out.data() + i * origin.run_bytes, scratch_.data() + i * origin.stride_bytes + origin.first,
                        origin.run_bytes);
        out = out.subspan(records * origin.run_bytes);
    }
    return {};
}

Result<> OriginReader::read(sys::File& file, const Origin& origin, std::uint64_t position, std::span<std::byte> out) {
    if (origin.sealed) return read_sealed(file, origin, position, out);
    while (!out.empty()) {
        const auto run = position / origin.run_bytes;
        const auto within = position % origin.run_bytes;
        const auto at = origin.first + run * origin.stride_bytes + within;
        // Reads short runs with their gaps, as many as fit a window: one read instead of thousands.
        auto together = std::min<std::uint64_t>(out.size() / origin.run_bytes, origin.runs - run);
        if (within == 0 && origin.run_bytes < limits::short_run_bytes && origin.stride_bytes < limits::window_bytes)
            together = std::min(together, limits::window_bytes / origin.stride_bytes);
        else together = 0;
        if (together > 1) {
            scratch_.resize((together - 1) * origin.stride_bytes + origin.run_bytes);
            FB_TRY(read_ranges(file, origin.ranges, at, scratch_));
            for (std::uint64_t i = 0; i < together; ++i)
                std::memcpy(out.data() + i * origin.run_bytes, scratch_.data() + i * origin.stride_bytes,
                            origin.run_bytes);
        } else {
            FB_TRY(read_ranges(file, origin.ranges, at,
                               out.first(std::min<std::uint64_t>(out.size(), origin.run_bytes - within))));
        }
        const auto done =
            together > 1 ? together * origin.run_bytes : std::min<std::uint64_t>(out.size(), origin.run_bytes - within);
        position += done;
        out = out.subspan(done);
    }
    return {};
}

std::uint64_t ForeignContents::bytes() const {
    std::uint64_t all = 0;
    for (const auto& origin : origins) all += origin.bytes();
    return all;
}

void swap_numbers(Type type, std::span<std::byte> bytes) {
    const auto size = number_bytes(type);
    if (size == 1) return;
    for (std::size_t at = 0; at + size <= bytes.size(); at += size)
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
}

Result<format::Layout> lay_out(const ForeignContents& contents, const std::string& stream) {
    auto schema = contents.schema;
    schema.stream = stream;
    if (const auto good = check_described(schema); !good)
        return with_context(good.error(),
                            fmt::format("{}: {} Nothing was imported", contents.files.front(), good.error().what), "",
                            "write the files without it. If their program wrote them so, report it");
    FB_TRY_ASSIGN(layout, format::plan_layout(schema, contents.parts,
                                              {.alignment_bytes = forebay::limits::page_bytes, .headroom_percent = 0}));
    const auto mistake = [](const std::string& why) {
        return Error{ErrorKind::broken, fmt::format("a defect of Forebay: {} Nothing was written", why), "",
                     "report it"};
    };
    if (layout.blocks.size() != contents.origins.size())
        return mistake(fmt::format("{} blocks, but {} origins.", layout.blocks.size(), contents.origins.size()));
    // A wrong origin would read foreign bytes, so the sizes are checked once for all decoders.
    for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
        const auto& origin = contents.origins[i];
        const auto& name = schema.variables[layout.blocks[i].variable].name;
        const auto reach =
            origin.runs == 0 ? 0 : origin.first + (origin.runs - 1) * origin.stride_bytes + origin.run_bytes;
        if (origin.bytes() != layout.blocks[i].size_bytes || reach > origin.source_bytes() ||
            origin.file >= contents.files.size())
            return mistake(fmt::format("a block of '{}' has {} bytes, its origin {}.", name,
                                       layout.blocks[i].size_bytes, origin.bytes()));
    }
    return layout;
}

}  // namespace forebay::foreign

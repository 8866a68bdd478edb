#include "insight/foreign/genericio/encode.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/bytes.hpp"
#include "core/base/crc64.hpp"
#include "insight/foreign/genericio/layout.hpp"

namespace forebay::foreign::genericio {

namespace {

class GioEncoder {
public:
    explicit GioEncoder(const GioHeader& header)
        : header_(header), bytes_(header_bytes(header.variables.size(), header.ranks.size(), header.has_blocks())) {}

    std::vector<std::byte> encode() {
        const auto magic = header_.big_endian ? magic_big : magic_little;
        std::memcpy(bytes_.data(), magic.data(), magic_bytes);
        const auto variables = header_.variables.size(), ranks = header_.ranks.size();
        // The size does not count the checksum.
        put(at_header_bytes, bytes_.size() - crc_bytes);
        put(at_elements, header_.elements);
        for (std::size_t i = 0; i < 3; ++i) put(at_dims + 8 * i, header_.dims[i]);
        const auto ranks_start = global_header_bytes + variables * variable_bytes;
        table(at_variables, variables, variable_bytes, global_header_bytes);
        table(at_ranks, ranks, rank_bytes, ranks_start);
        put(at_global_bytes, global_header_bytes);
        for (std::size_t i = 0; i < 3; ++i) {
            put(at_phys_origin + 8 * i, header_.phys_origin[i]);
            put(at_phys_scale + 8 * i, header_.phys_scale[i]);
        }
        const auto blocks_start = ranks_start + ranks * rank_bytes;
        if (header_.has_blocks()) {
            put(at_blocks, block_bytes);
            put(at_blocks + 8, blocks_start);
        }
        for (std::size_t i = 0; i < variables; ++i) variable(global_header_bytes + i * variable_bytes, i);
        for (std::size_t i = 0; i < ranks; ++i) rank(ranks_start + i * rank_bytes, i);
        for (std::size_t i = 0; i < header_.stored.size(); ++i) block(blocks_start + i * block_bytes, i);
        // The checksum covers everything before it.
        const auto end = trailer(crc64(std::span(bytes_).first(bytes_.size() - crc_bytes)));
        std::ranges::copy(end, bytes_.end() - static_cast<std::ptrdiff_t>(crc_bytes));
        return std::move(bytes_);
    }

private:
    template <class T>
    void put(std::uint64_t at, T value) {
        auto* to = bytes_.data() + at;
        store_le(to, value);
        if (header_.big_endian) std::reverse(to, to + sizeof value);
    }
    void table(std::uint64_t at, std::uint64_t count, std::uint64_t entry_bytes, std::uint64_t start) {
        put(at, count);
        put(at + 8, entry_bytes);
        put(at + 16, start);
    }
    void variable(std::uint64_t at, std::size_t i) {
        const auto& variable = header_.variables[i];
        // Leaves room for the final NUL.
        std::memcpy(bytes_.data() + at, variable.name.data(),
                    std::min<std::size_t>(variable.name.size(), name_field_bytes - 1));
        put(at + at_flags, variable.flags);
        put(at + at_record_bytes, variable.record_bytes);
        put(at + at_element_bytes, variable.element_bytes);
    }
    void rank(std::uint64_t at, std::size_t i) {
        const auto& rank = header_.ranks[i];
        for (std::size_t d = 0; d < 3; ++d) put(at + 8 * d, rank.coords[d]);
        put(at + at_rank_elements, rank.elements);
        put(at + at_rank_start, rank.start);
        put(at + at_global_rank, rank.global_rank);
    }
    void block(std::uint64_t at, std::size_t i) {
        const auto& filter = header_.filters[header_.filter_of[i]];
        std::memcpy(bytes_.data() + at, filter.data(), std::min<std::size_t>(filter.size(), filter_bytes));
        put(at + at_block_start, header_.stored[i].offset);
        put(at + at_block_bytes, header_.stored[i].bytes);
    }

    const GioHeader& header_;
    std::vector<std::byte> bytes_;
};

}  // namespace

std::uint64_t header_bytes(std::size_t variables, std::size_t ranks, bool blocks) {
    return global_header_bytes + variables * variable_bytes + ranks * rank_bytes +
           (blocks ? variables * ranks * block_bytes : 0) + crc_bytes;
}

Result<> place_plain(GioHeader& header) {
    header.header_bytes = header_bytes(header.variables.size(), header.ranks.size(), false);
    header.variable_offsets.clear();
    std::uint64_t row_bytes = 0;
    for (const auto& variable : header.variables) {
        header.variable_offsets.push_back(row_bytes);
        row_bytes += variable.record_bytes;
    }
    auto at = header.header_bytes;
    for (auto& rank : header.ranks) {
        rank.start = at;
        if (row_bytes > 0 && rank.elements > (std::uint64_t{1} << 62) / row_bytes)
            return Error{ErrorKind::refused, "a rank has more than 2^62 bytes."};
        at += rank.elements * row_bytes + crc_bytes * header.variables.size();
    }
    header.file_bytes = at;
    return {};
}

std::vector<std::byte> encode(const GioHeader& header) { return GioEncoder(header).encode(); }

std::array<std::byte, crc_bytes> trailer(std::uint64_t crc) {
    std::array<std::byte, crc_bytes> bytes;
    store_le(bytes.data(), ~crc);
    return bytes;
}

std::vector<std::byte> encode_small(GioHeader header, std::span<const std::vector<std::byte>> columns) {
    // Cannot fail: the sizes of a small file are possible.
    place_plain(header).value();
    auto bytes = encode(header);
    bytes.resize(header.file_bytes);
    std::vector<std::uint64_t> taken(columns.size(), 0);
    for (std::size_t rank = 0; rank < header.ranks.size(); ++rank)
        for (std::size_t v = 0; v < header.variables.size(); ++v) {
            const auto place = header.block(rank, v).stored;
            const auto to = std::span(bytes).subspan(place.offset, place.bytes);
            std::memcpy(to.data(), columns[v].data() + taken[v], place.bytes);
            taken[v] += place.bytes;
            const auto width = static_cast<std::ptrdiff_t>(header.variables[v].element_bytes);
            if (header.big_endian)
                for (auto at = to.begin(); at != to.end(); at += width) std::reverse(at, at + width);
            std::ranges::copy(trailer(crc64(to)), bytes.begin() + static_cast<std::ptrdiff_t>(place.end()));
        }
    return bytes;
}

}  // namespace forebay::foreign::genericio

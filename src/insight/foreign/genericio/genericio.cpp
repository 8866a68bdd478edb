// Reads the header of a GenericIO file of either byte order. Decoder::decode() follows the header: its checksum, the
// places of the tables of variables, ranks and blocks, then their entries. The file may be damaged or hostile even if
// its checksum is right. So each offset and count is compared with the header's or the file's size before use, sums
// cannot overflow, and ranges must not overlap.
//
// Older GenericIO versions have shorter entries. A field is read only if the entry's stored size covers it.

#include "insight/foreign/genericio/genericio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/crc64.hpp"
#include "core/base/try.hpp"
#include "insight/foreign/bytes.hpp"
#include "insight/foreign/genericio/layout.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::foreign::genericio {

namespace {

class Decoder {
public:
    Decoder(std::span<const std::byte> bytes, std::uint64_t file_bytes, const std::string& name)
        : bytes_(bytes), name_(name) {
        out_.file_bytes = file_bytes;
    }

    Result<GioHeader> decode() {
        if (!is_genericio(bytes_))
            return Error{ErrorKind::refused,
                         fmt::format("{} is not a GenericIO file: it does not begin with HACC01L or HACC01B", name_),
                         "", "give a file that GenericIO wrote"};
        out_.big_endian = bytes_[6] == std::byte{'B'};
        FB_TRY(checksum());
        FB_TRY(tables());
        for (std::size_t i = 0; i < 3; ++i) out_.dims[i] = u64(at_dims + 8 * i);
        FB_TRY(variables());
        FB_TRY(ranks());
        FB_TRY(blocks_.count > 0 ? blocks() : plain_data());
        return std::move(out_);
    }

private:
    struct Table {
        const char* what;
        std::uint64_t count = 0, entry_bytes = 0, start = 0;
        std::uint64_t end() const { return start + count * entry_bytes; }
        std::uint64_t entry(std::uint64_t i) const { return start + i * entry_bytes; }
    };

    std::uint64_t u64(std::uint64_t offset) const {
        return load<std::uint64_t>(bytes_.data() + offset, out_.big_endian);
    }
    double f64(std::uint64_t offset) const { return load<double>(bytes_.data() + offset, out_.big_endian); }

    Error damage(std::uint64_t offset, const std::string& why) const {
        return {ErrorKind::corrupt, fmt::format("{} is a damaged GenericIO file: at byte {}: {}", name_, offset, why),
                "", "copy the file again, or use an older file"};
    }

    Result<> checksum() {
        if (bytes_.size() < global_header_least + crc_bytes || u64(at_header_bytes) + crc_bytes != bytes_.size())
            return damage(at_header_bytes, fmt::format("it ends within its header, of {} bytes.", bytes_.size()));
        out_.header_bytes = bytes_.size();
        const auto end = bytes_.size() - crc_bytes;
        // The complement is stored, lowest byte first in files of either byte order.
        const auto actual = crc64(bytes_.first(end)), expected = ~load_le<std::uint64_t>(bytes_.data() + end);
        if (actual == expected) return {};
        return damage(0, fmt::format("the header's CRC-64 is {:016x}, {:016x} expected.", actual, expected));
    }

    // Checks the place of a table. `least` is an entry's size in the oldest files.
    Result<> table(Table& table, std::uint64_t at, std::uint64_t least) const {
        const auto end = bytes_.size() - crc_bytes;
        if (table.count == 0) return {};
        if (table.entry_bytes < least)
            return damage(at, fmt::format("entries of {} bytes for {}, at least {} expected.", table.entry_bytes,
                                          table.what, least));
        // Divided, so that no product of damaged numbers overflows.
        if (table.start < global_header_least || table.start > end || table.entry_bytes > end ||
            table.count > (end - table.start) / table.entry_bytes)
            return damage(at, fmt::format("{} {} of {} bytes at {} do not fit a header of {} bytes.", table.count,
                                          table.what, table.entry_bytes, table.start, end));
        return {};
    }

    // A field exists only if its structure's stored size covers it.
    Result<> tables() {
        const auto global = u64(at_global_bytes);
        if (global < global_header_least || global > bytes_.size() - crc_bytes)
            return damage(at_global_bytes, fmt::format("a global header of {} bytes.", global));
        const auto vector = [&](std::uint64_t at, std::array<double, 3>& to) {
            if (global < at + 24) return Range{};
            for (std::size_t i = 0; i < 3; ++i) to[i] = f64(at + 8 * i);
            return Range{at, 24};
        };
        out_.origin_place = vector(at_phys_origin, out_.phys_origin);
        out_.scale_place = vector(at_phys_scale, out_.phys_scale);
        variables_ = {"variables", u64(at_variables), u64(at_variables + 8), u64(at_variables + 16)};
        ranks_ = {"ranks", u64(at_ranks), u64(at_ranks + 8), u64(at_ranks + 16)};
        FB_TRY(table(variables_, at_variables, variable_bytes_least));
        FB_TRY(table(ranks_, at_ranks, rank_bytes_least));
        if (ranks_.count == 0) return damage(at_ranks, "it has no ranks.");
        blocks_ = {"blocks", 0, 0, 0};
        if (global >= at_blocks + 16) blocks_ = {"blocks", 0, u64(at_blocks), u64(at_blocks + 8)};
        if (blocks_.entry_bytes > 0 || blocks_.start > 0) {
            // The number of blocks is a product, which must not overflow.
            if (variables_.count > 0 && ranks_.count > bytes_.size() / variables_.count)
                return damage(at_blocks, "its blocks do not fit the header.");
            blocks_.count = ranks_.count * variables_.count;
            FB_TRY(table(blocks_, at_blocks, block_bytes));
        }
        return apart({{0, global}, range_of(variables_), range_of(ranks_), range_of(blocks_)}, at_variables,
                     "tables of the header");
    }
    static Range range_of(const Table& table) { return {table.start, table.count * table.entry_bytes}; }

    Result<> apart(std::vector<Range> ranges, std::uint64_t at, const char* what) const {
        std::erase_if(ranges, [](const Range& range) { return range.bytes == 0; });
        std::ranges::sort(ranges, {}, &Range::offset);
        for (std::size_t i = 1; i < ranges.size(); ++i)
            if (ranges[i].offset < ranges[i - 1].end())
                return damage(at, fmt::format("{} overlap at byte {}.", what, ranges[i].offset));
        return {};
    }

    Result<> variables() {
        for (std::uint64_t i = 0; i < variables_.count; ++i) {
            const auto at = variables_.entry(i);
            const auto text = text_of(bytes_.subspan(at, name_field_bytes));
            GioVariable variable{.name = std::string(text.substr(0, text.find('\0'))), .flags = u64(at + at_flags)};
            variable.record_bytes = u64(at + at_record_bytes);
            variable.element_bytes =
                variables_.entry_bytes >= variable_bytes ? u64(at + at_element_bytes) : variable.record_bytes;
            if (variable.record_bytes == 0 || variable.element_bytes == 0 ||
                variable.record_bytes % variable.element_bytes != 0)
                return damage(at, fmt::format("variable '{}' has records of {} bytes, of elements of {}.",
                                              shown(variable.name), variable.record_bytes, variable.element_bytes));
            if (variable.name.empty() || shown(variable.name) != variable.name)
                return damage(at, fmt::format("'{}' is not a valid name of a variable.", shown(variable.name)));
            out_.variables.push_back(std::move(variable));
        }
        std::vector<std::string_view> names;
        for (const auto& variable : out_.variables) names.push_back(variable.name);
        std::ranges::sort(names);
        if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
            return damage(variables_.start, fmt::format("there are two variables '{}'.", *twice));
        return {};
    }

    // Hides control characters of a damaged name from the terminal.
    static std::string shown(std::string text) {
        for (auto& c : text)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
        return text;
    }

    Result<> ranks() {
        out_.elements = u64(at_elements);
        out_.ranks_start = ranks_.start;
        out_.rank_bytes = ranks_.entry_bytes;
        out_.has_global_ranks = ranks_.entry_bytes >= rank_bytes;
        std::uint64_t all = 0;
        for (std::uint64_t i = 0; i < ranks_.count; ++i) {
            const auto at = ranks_.entry(i);
            Rank rank{.elements = u64(at + at_rank_elements), .start = u64(at + at_rank_start), .global_rank = i};
            for (std::size_t d = 0; d < 3; ++d) rank.coords[d] = u64(at + 8 * d);
            if (out_.has_global_ranks) rank.global_rank = u64(at + at_global_rank);
            // Subtracted, so that the sum cannot overflow.
            if (rank.elements > out_.elements - all)
                return damage(at + at_rank_elements,
                              fmt::format("ranks have more than the {} elements of the file.", out_.elements));
            all += rank.elements;
            out_.ranks.push_back(rank);
        }
        if (all == out_.elements) return {};
        return damage(at_elements, fmt::format("{} elements, but ranks have {}.", out_.elements, all));
    }

    bool inside(const Range& stored) const {
        return stored.offset >= out_.header_bytes && stored.offset <= out_.file_bytes &&
               stored.bytes <= out_.file_bytes - stored.offset;
    }

    Result<> plain_data() {
        std::uint64_t row_bytes = 0;
        for (const auto& variable : out_.variables) {
            out_.variable_offsets.push_back(row_bytes);
            // Stays just above the file size instead of overflowing.
            if (variable.record_bytes > out_.file_bytes || out_.file_bytes < row_bytes) row_bytes = out_.file_bytes + 1;
            else row_bytes += variable.record_bytes;
        }
        std::vector<Range> places;
        for (std::size_t i = 0; i < out_.ranks.size(); ++i) {
            const auto& rank = out_.ranks[i];
            const auto at = ranks_.entry(i) + at_rank_start;
            const auto crcs = crc_bytes * out_.variables.size();
            if (row_bytes > 0 && rank.elements > out_.file_bytes / row_bytes)
                return damage(at, fmt::format("rank {} has {} elements, more than the file.", i, rank.elements));
            const Range place{rank.start, rank.elements * row_bytes + crcs};
            if (!out_.variables.empty() && !inside(place))
                return damage(
                    at,
                    fmt::format("the data of rank {}, {} bytes at {}, are not behind the header in a file of {} bytes.",
                                i, place.bytes, place.offset, out_.file_bytes));
            places.push_back(place);
        }
        return apart(std::move(places), ranks_.start, "data of ranks");
    }

    Result<> blocks() {
        std::vector<Range> places;
        for (std::uint64_t i = 0; i < blocks_.count; ++i) {
            const auto at = blocks_.entry(i);
            const auto& variable = out_.variables[i % out_.variables.size()];
            const auto& rank = out_.ranks[i / out_.variables.size()];
            const Range stored{u64(at + at_block_start), u64(at + at_block_bytes)};
            // Checked first, so that adding the checksum's bytes cannot overflow.
            const bool fits = stored.bytes <= out_.file_bytes;
            if (!fits || !inside({stored.offset, stored.bytes + crc_bytes}))
                return damage(
                    at, fmt::format("block {}, {} bytes at {}, is not behind the header in a file of {} bytes.", i,
                                    stored.bytes, stored.offset, out_.file_bytes));
            if (rank.elements > std::numeric_limits<std::uint64_t>::max() / variable.record_bytes)
                return damage(at, fmt::format("block {} would hold {} elements of {} bytes.", i, rank.elements,
                                              variable.record_bytes));
            FB_TRY_ASSIGN(filter, filter_at(at));
            if (out_.filters[filter].empty() && stored.bytes != rank.elements * variable.record_bytes)
                return damage(at, fmt::format("block {} has {} bytes for {} elements of {}.", i, stored.bytes,
                                              rank.elements, variable.record_bytes));
            out_.filter_of.push_back(filter);
            out_.stored.push_back(stored);
            places.push_back({stored.offset, stored.bytes + crc_bytes});
        }
        return apart(std::move(places), blocks_.start, "blocks");
    }

    Result<std::uint16_t> filter_at(std::uint64_t at) {
        std::string names;
        for (std::size_t i = 0; i < filters_max; ++i) {
            const auto field = text_of(bytes_.subspan(at + i * filter_bytes, filter_bytes));
            const auto name = shown(std::string(field.substr(0, field.find('\0'))));
            if (name.empty()) break;
            names += (names.empty() ? "" : "+") + name;
        }
        const auto known = std::ranges::find(out_.filters, names);
        if (known == out_.filters.end() && out_.filters.size() == filters_known_max)
            return damage(at, fmt::format("more than {} kinds of compression.", filters_known_max));
        const auto index = known - out_.filters.begin();
        if (known == out_.filters.end()) out_.filters.push_back(names);
        return static_cast<std::uint16_t>(index);
    }

    std::span<const std::byte> bytes_;
    const std::string& name_;
    Table variables_{}, ranks_{}, blocks_{};
    GioHeader out_;
};

}  // namespace

bool is_genericio(std::span<const std::byte> first) {
    const auto text = text_of(first.first(std::min<std::size_t>(first.size(), magic_bytes)));
    return text == magic_little || text == magic_big;
}

Result<GioHeader> decode(std::span<const std::byte> bytes, std::uint64_t file_bytes, const std::string& name) {
    return Decoder(bytes, file_bytes, name).decode();
}

Result<GioHeader> read_header(sys::File& file, const std::string& name) {
    FB_TRY_ASSIGN(file_bytes, file.size());
    std::vector<std::byte> bytes(std::min(file_bytes, at_header_bytes + 8));
    FB_TRY(file.read(0, bytes));
    if (is_genericio(bytes) && bytes.size() == at_header_bytes + 8) {
        const auto size = load<std::uint64_t>(bytes.data() + at_header_bytes, bytes[6] == std::byte{'B'});
        if (size > limits::genericio_header_bytes_max && size <= file_bytes)
            return Error{ErrorKind::unsupported, fmt::format("the header of {} has {} bytes, at most {} are read.",
                                                             name, size, limits::genericio_header_bytes_max)};
        // A damaged size must not allocate more than the file has.
        bytes.resize(size <= file_bytes ? std::min(file_bytes, size + crc_bytes) : bytes.size());
        FB_TRY(file.read(0, bytes));
    }
    return decode(bytes, file_bytes, name);
}

GioBlock GioHeader::block(std::size_t rank, std::size_t variable) const {
    if (has_blocks()) {
        const auto i = rank * variables.size() + variable;
        return {stored[i], filters[filter_of[i]]};
    }
    const auto elements_here = ranks[rank].elements;
    return {{ranks[rank].start + elements_here * variable_offsets[variable] + crc_bytes * variable,
             elements_here * variables[variable].record_bytes},
            ""};
}

Result<Sealed> GioHeader::sealed(std::size_t rank, std::size_t variable, const std::string& name) const {
    const auto listed = block(rank, variable);
    Sealed sealed{.stored = listed.stored,
                  .blosc = listed.filter == "BLOSC",
                  .plain_bytes = ranks[rank].elements * variables[variable].record_bytes,
                  .big_endian = big_endian};
    if (listed.filter.empty() || sealed.blosc) return sealed;
    return Error{ErrorKind::unsupported,
                 fmt::format("'{}' in {} is compressed by {}, which this Forebay cannot decode",
                             variables[variable].name, name, listed.filter),
                 "", "write the file with BLOSC or without compression"};
}

namespace {
constexpr std::array<const char*, 6> flag_names{"float",        "signed",       "coordinate_x",
                                                "coordinate_y", "coordinate_z", "maybe_ghost"};
}

std::string flags_text(std::uint64_t flags) {
    std::string text;
    for (std::size_t i = 0; i < flag_names.size(); ++i)
        if ((flags >> i & 1) != 0) text += (text.empty() ? "" : " ") + std::string(flag_names[i]);
    return text;
}

std::uint64_t flags_of(const std::string& text) {
    std::uint64_t flags = 0;
    for (std::size_t i = 0; i < flag_names.size(); ++i)
        if ((" " + text + " ").find(" " + std::string(flag_names[i]) + " ") != std::string::npos)
            flags |= std::uint64_t{1} << i;
    return flags;
}

Result<Type> type_of(const GioVariable& variable, const std::string& name) {
    const bool is_real = (variable.flags & is_float) != 0, with_sign = (variable.flags & is_signed) != 0;
    const auto bytes = variable.element_bytes;
    if (is_real) {
        if (bytes == 2) return f16;
        if (bytes == 4) return f32;
        if (bytes == 8) return f64;
    } else {
        if (bytes == 1) return with_sign ? i8 : u8;
        if (bytes == 2) return with_sign ? i16 : u16;
        if (bytes == 4) return with_sign ? i32 : u32;
        if (bytes == 8) return with_sign ? i64 : u64;
    }
    return Error{ErrorKind::unsupported,
                 fmt::format("'{}' in {} has {} of {} bytes, a type that Forebay does not have", variable.name, name,
                             is_real ? "floats" : "integers", bytes),
                 "", "write the variable as another type"};
}

}  // namespace forebay::foreign::genericio

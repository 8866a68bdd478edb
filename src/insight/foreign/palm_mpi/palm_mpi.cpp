#include "insight/foreign/palm_mpi/palm_mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "insight/foreign/bytes.hpp"
#include "insight/foreign/evidence.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::foreign {

namespace {

// The ten int32 at the beginning, in order.
enum Field { endian, outer_ghosts, arrays, texts, integers, reals, pes_x, pes_y, total_x, total_y };

constexpr std::uint64_t name_bytes = 32;
constexpr std::uint64_t text_bytes = 128;  // first the name, then the value

// One list of the header.
struct HeaderTable {
    const char* what;
    std::uint64_t entries_max;
    std::uint64_t names_begin, names_step;
    std::uint64_t values_begin, values_step;
};
constexpr HeaderTable integer_table{"integers", 256, 40, name_bytes, 8232, 4};
constexpr HeaderTable text_table{"texts", 128, 9256, text_bytes, 9256 + name_bytes, text_bytes};
constexpr HeaderTable real_table{"reals", 256, 25'640, name_bytes, 33'832, 8};
constexpr HeaderTable array_table{"arrays", 600, 35'880, name_bytes, 55'080, 8};

class Decoder {
public:
    Decoder(std::span<const std::byte> header, std::uint64_t file_bytes, const std::string& name)
        : header_(header), file_bytes_(file_bytes), name_(name) {}

    Result<PalmMpiHeader> decode() {
        FB_TRY(byte_order());
        FB_TRY(list(integer_table, integers, out_.integers));
        FB_TRY(list(text_table, texts, out_.texts));
        FB_TRY(list(real_table, reals, out_.reals));
        FB_TRY(list(array_table, arrays, out_.arrays));
        FB_TRY(grid());
        FB_TRY(trim_texts());
        FB_TRY(place_arrays());
        // PALM uses the first entry of a name.
        if (const auto* step = first_of(out_.integers, "current_timestep_number"))
            out_.step = at<std::int32_t>(step->place.offset);
        if (const auto* time = first_of(out_.reals, "simulated_time")) out_.time = at<double>(time->place.offset);
        return std::move(out_);
    }

private:
    template <class T>
    T at(std::uint64_t offset) const {
        return load<T>(header_.data() + offset, out_.big_endian);
    }
    std::int32_t field(Field which) const { return at<std::int32_t>(4 * static_cast<std::uint64_t>(which)); }

    static const PalmMpiHeader::Named* first_of(const std::vector<PalmMpiHeader::Named>& list, std::string_view name) {
        const auto match = std::ranges::find(list, name, &PalmMpiHeader::Named::name);
        return match == list.end() ? nullptr : &*match;
    }

    Error damage(std::uint64_t offset, const std::string& why) const {
        return {ErrorKind::corrupt,
                fmt::format("{} is a damaged restart file of PALM: at byte {}: {} Nothing was imported", name_, offset,
                            why),
                "", "copy the file again, or use an older file"};
    }

    Result<> byte_order() {
        if (header_.size() >= 4 && load<std::int32_t>(header_.data(), true) == 2) out_.big_endian = true;
        else if (header_.size() < 4 || load<std::int32_t>(header_.data(), false) != 1)
            return Error{
                ErrorKind::refused,
                fmt::format("{} is not an MPI-IO restart file of PALM: it does not begin with the byte order, 1 or 2",
                            name_),
                "", "for files of restart_data_format fortran_binary: forebay import palm-fortran"};
        if (header_.size() < palm_mpi_header_bytes)
            return damage(header_.size(), fmt::format("it ends within the header of {} bytes.", palm_mpi_header_bytes));
        return {};
    }

    Result<> list(const HeaderTable& table, Field count_field, std::vector<PalmMpiHeader::Named>& out) {
        const auto count = field(count_field);
        if (count < 0 || static_cast<std::uint64_t>(count) > table.entries_max)
            return damage(std::uint64_t{4} * count_field,
                          fmt::format("{} {}, but PALM has at most {}.", count, table.what, table.entries_max));
        for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
            const auto begin = table.names_begin + i * table.names_step;
            const auto bytes = header_.subspan(begin, name_bytes);
            auto name = std::string(text_of(bytes));
            name.erase(name.find_last_not_of(' ') + 1);
            if (name.empty() || !is_text(bytes)) return damage(begin, "a name is blank or has control characters.");
            out.push_back({std::move(name), {table.values_begin + i * table.values_step, table.values_step}});
        }
        return {};
    }

    Result<> grid() {
        constexpr std::array<std::string_view, 3> names{"nx", "ny", "nz"};
        std::array<std::uint64_t, 3> upper{};
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (out_.integers.size() <= i || out_.integers[i].name != names[i])
                return damage(integer_table.names_begin + i * name_bytes,
                              fmt::format("integer {} is not {}.", i + 1, names[i]));
            const auto value = at<std::int32_t>(out_.integers[i].place.offset);
            if (value < 0 || static_cast<std::uint64_t>(value) >= limits::grid_points_max)
                return damage(out_.integers[i].place.offset, fmt::format("{} is {}.", names[i], value));
            upper[i] = static_cast<std::uint64_t>(value);
        }
        out_.points_x = upper[0] + 1;
        out_.points_y = upper[1] + 1;
        out_.levels = upper[2] + 2;
        const auto more_x = std::int64_t{field(total_x)} - static_cast<std::int64_t>(out_.points_x);
        const auto more_y = std::int64_t{field(total_y)} - static_cast<std::int64_t>(out_.points_y);
        const auto flag = field(outer_ghosts);
        if (flag != 0 && flag != 1)
            return damage(std::uint64_t{4} * outer_ghosts, fmt::format("the flag of outer ghost layers is {}.", flag));
        // Ghost layers surround the grid, so both directions have the same even surplus.
        const bool fits = flag == 0 ? more_x == 0 : more_x > 0 && more_x % 2 == 0;
        if (!fits || more_x != more_y || more_x > static_cast<std::int64_t>(2 * limits::ghost_layers_max))
            return damage(
                std::uint64_t{4} * total_x,
                fmt::format("{} x {} points are stored of a grid of {} x {}, {} outer ghost layers.", field(total_x),
                            field(total_y), out_.points_x, out_.points_y, flag == 0 ? "without" : "with"));
        out_.ghost_layers = static_cast<std::uint64_t>(more_x) / 2;
        return {};
    }

    Result<> trim_texts() {
        for (auto& text : out_.texts) {
            const auto bytes = header_.subspan(text.place.offset, text_bytes - name_bytes);
            if (!is_text(bytes))
                return damage(text.place.offset, fmt::format("'{}' has control characters.", text.name));
            // A string cannot be empty, so a blank text keeps one blank.
            const auto last = text_of(bytes).find_last_not_of(' ');
            text.place.bytes = last == std::string_view::npos ? 1 : last + 1;
        }
        return {};
    }

    // Sizes are not stored: an array ends at the next array, the last array at the end of the file.
    Result<> place_arrays() {
        std::vector<std::uint64_t> entry(out_.arrays.size());
        for (std::size_t i = 0; i < out_.arrays.size(); ++i) {
            auto& array = out_.arrays[i];
            entry[i] = array.place.offset;
            const auto offset = at<std::int64_t>(array.place.offset);
            if (offset < static_cast<std::int64_t>(palm_mpi_arrays_begin) ||
                static_cast<std::uint64_t>(offset) > file_bytes_)
                return damage(entry[i], fmt::format("array '{}' begins at byte {} of {}, but arrays begin at {}.",
                                                    array.name, offset, file_bytes_, palm_mpi_arrays_begin));
            array.place.offset = static_cast<std::uint64_t>(offset);
            if (i > 0 && array.place.offset < out_.arrays[i - 1].place.offset)
                return damage(entry[i], fmt::format("array '{}' begins at byte {}, before the earlier array '{}'.",
                                                    array.name, offset, out_.arrays[i - 1].name));
        }
        for (std::size_t i = 0; i < out_.arrays.size(); ++i) {
            auto& array = out_.arrays[i];
            const auto end = i + 1 < out_.arrays.size() ? out_.arrays[i + 1].place.offset : file_bytes_;
            array.place.bytes = end - array.place.offset;
            // A run without remaining particles writes none.
            if (array.place.bytes == 0 && array.name != "particles")
                return damage(array.place.offset,
                              fmt::format("the array '{}' begins there, and so does {}.", array.name,
                                          i + 1 < out_.arrays.size() ? fmt::format("'{}'", out_.arrays[i + 1].name)
                                                                     : "the end of the file"));
        }
        if (!out_.arrays.empty() && out_.arrays.front().place.offset != palm_mpi_arrays_begin)
            return damage(out_.arrays.front().place.offset,
                          fmt::format("the first array begins there, not at byte {}.", palm_mpi_arrays_begin));
        return {};
    }

    std::span<const std::byte> header_;
    std::uint64_t file_bytes_;
    const std::string& name_;
    PalmMpiHeader out_;
};

}  // namespace

Result<PalmMpiHeader> decode_palm_mpi(std::span<const std::byte> header, std::uint64_t file_bytes,
                                      const std::string& name) {
    return Decoder(header, file_bytes, name).decode();
}

}  // namespace forebay::foreign

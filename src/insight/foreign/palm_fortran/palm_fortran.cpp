#include "insight/foreign/palm_fortran/palm_fortran.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "insight/foreign/bytes.hpp"
#include "insight/foreign/evidence.hpp"
#include "insight/foreign/limits.hpp"
#include "insight/foreign/palm_names.hpp"

namespace forebay::foreign {

namespace {

constexpr std::string_view local_begin = "binary_version_local";
constexpr std::string_view local_end = "*** end ***";
constexpr std::uint32_t length_bytes = 4;  // of a name's first record

class Decoder {
public:
    Decoder(sys::File& file, FortranReader reader) : file_(file), reader_(std::move(reader)) {
        out_.big_endian = reader_.big_endian();
    }

    Result<PalmProcess> decode() {
        FB_TRY(part(out_.global, local_begin));
        FB_TRY_ASSIGN(version, next_record(local_begin));
        out_.global.push_back({std::string(local_begin), std::move(version)});
        FB_TRY(bounds());
        FB_TRY(part(out_.local, local_end));
        if (!reader_.at_end()) return reader_.damage(reader_.position(), "data follow after PALM's end mark.");
        return std::move(out_);
    }

private:
    // Reads names and their records, up to the name `end`.
    Result<> part(std::vector<PalmRecord>& out, std::string_view end) {
        std::map<std::string, std::size_t, std::less<>> newest;
        while (true) {
            FB_TRY_ASSIGN(name, next_name());
            if (name == end) return {};
            for (const auto variable : palm_records(name)) {
                FB_TRY_ASSIGN(record, next_record(variable));
                const auto [known, is_new] = newest.emplace(variable, out.size());
                // PALM's reader takes the later record.
                if (!is_new) FB_TRY(compare(out[known->second], record));
                known->second = out.size();
                out.push_back({std::string(variable), std::move(record)});
            }
            after_ = std::move(name);
        }
    }

    Result<> compare(PalmRecord& earlier, const FortranRecord& later) {
        FB_TRY_ASSIGN(same, equal_ranges(file_, earlier.record.ranges, later.ranges));
        earlier.later = same ? PalmRecord::Later::same : PalmRecord::Later::other;
        return {};
    }

    // Two records: the length without trailing blanks, then the characters.
    Result<std::string> next_name() {
        name_at_ = reader_.position();
        if (reader_.at_end())
            return reader_.damage(name_at_, fmt::format("the file ends without PALM's end mark '{}'.", local_end));
        FB_TRY_ASSIGN(length_record, reader_.next());
        if (length_record.bytes != length_bytes)
            return no_name(
                fmt::format("a record of {} bytes instead of the length of a name, 4 bytes", length_record.bytes));
        FB_TRY_ASSIGN(length_data, reader_.data(length_record, length_bytes));
        const auto length = load<std::int32_t>(length_data.data(), reader_.big_endian());
        const auto at = reader_.position();
        if (length < 1 || static_cast<std::uint64_t>(length) > limits::name_bytes_max)
            return no_name(fmt::format("a name of {} characters", length));
        FB_TRY_ASSIGN(record, reader_.next());
        FB_TRY_ASSIGN(data, reader_.data(record, limits::name_bytes_max));
        auto name = std::string(text_of(data));
        name.erase(name.find_last_not_of(' ') + 1);
        if (name.size() != static_cast<std::size_t>(length) || record.bytes > limits::name_bytes_max || !is_text(data))
            return reader_.damage(
                at, fmt::format("a record of {} bytes instead of a name of {} characters.", record.bytes, length));
        return name;
    }

    // The file may be whole: a user's own module may write more records than PALM.
    Error no_name(const std::string& text) const {
        if (after_.empty()) return reader_.damage(name_at_, text + ".");
        auto error =
            reader_.damage(name_at_, fmt::format("{}, behind the data of '{}'. One record follows a name of PALM, and "
                                                 "two records follow only random_iv and seq_random_array.",
                                                 text, after_));
        error.next += fmt::format("; if your own code writes more for '{}', use restart_data_format mpi", after_);
        return error;
    }

    Result<FortranRecord> next_record(std::string_view name) {
        if (reader_.at_end())
            return reader_.damage(reader_.position(), fmt::format("the file ends after the name '{}'.", name));
        return reader_.next();
    }

    Result<> bounds() {
        constexpr std::uint64_t numbers = 8;
        FB_TRY_ASSIGN(record, next_record(local_begin));
        if (record.bytes != numbers * sizeof(std::int32_t))
            return reader_.damage(record.at,
                                  fmt::format("a record of {} bytes instead of the 8 bounds.", record.bytes));
        FB_TRY_ASSIGN(data, reader_.data(record, record.bytes));
        std::array<std::int32_t*, numbers> targets{&out_.processes, &out_.process, &out_.left,   &out_.right,
                                                   &out_.south,     &out_.north,   &out_.bottom, &out_.top};
        for (std::size_t i = 0; i < numbers; ++i)
            *targets[i] = load<std::int32_t>(data.data() + i * sizeof(std::int32_t), reader_.big_endian());
        const auto good = [](std::int32_t low, std::int32_t high) {
            return low >= 0 && low <= high && static_cast<std::uint64_t>(high) < limits::grid_points_max;
        };
        if (out_.processes < 1 || static_cast<std::uint64_t>(out_.processes) > forebay::limits::ranks_per_node_max ||
            out_.process < 0 || out_.process >= out_.processes || !good(out_.left, out_.right) ||
            !good(out_.south, out_.north) || !good(out_.bottom, out_.top))
            return reader_.damage(record.at, fmt::format("process {} of {}, x {} to {}, y {} to {}, z {} to {}.",
                                                         out_.process, out_.processes, out_.left, out_.right,
                                                         out_.south, out_.north, out_.bottom, out_.top));
        return {};
    }

    sys::File& file_;
    FortranReader reader_;
    std::uint64_t name_at_ = 0;
    std::string after_;  // the last name with its records read
    PalmProcess out_;
};

}  // namespace

Result<PalmProcess> decode_palm_process(sys::File& file, const std::string& name) {
    FB_TRY_ASSIGN(reader, FortranReader::open(file, name, length_bytes));
    return Decoder(file, std::move(reader)).decode();
}

}  // namespace forebay::foreign

#include "insight/foreign/palm_fortran/fortran_records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/try.hpp"
#include "insight/foreign/bytes.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::foreign {

namespace {

constexpr std::uint64_t mark_bytes = 4;

}  // namespace

Error FortranReader::damage(std::uint64_t at, const std::string& why) const {
    return {ErrorKind::corrupt,
            fmt::format("{} is a damaged restart file of PALM: at byte {} of {}: {} Nothing was imported", name_, at,
                        file_bytes_, why),
            "", "copy the file again, or use older files"};
}

Result<FortranReader> FortranReader::open(sys::File& file, const std::string& name, std::uint32_t first_record_bytes) {
    FB_TRY_ASSIGN(file_bytes, file.size());
    FortranReader reader(file, name, file_bytes);
    if (file_bytes < 2 * mark_bytes) return reader.damage(file_bytes, "it ends within the first mark.");
    const auto is_first = [&](Result<std::int32_t>& marker) {
        return marker && *marker == static_cast<std::int32_t>(first_record_bytes);
    };
    auto marker = reader.mark(0);
    if (!marker) return marker.error();
    if (is_first(marker)) {
        // With marks of 8 bytes, the mark's upper half, 0, is here. A name's length is never 0.
        FB_TRY_ASSIGN(second, reader.mark(mark_bytes));
        if (second == 0)
            return Error{ErrorKind::unsupported,
                         fmt::format("the records of {} have marks of 8 bytes (gfortran's -frecord-marker=8), which "
                                     "Forebay cannot read. Nothing was imported",
                                     name),
                         "", "write the files with marks of 4 bytes, the default"};
        return reader;
    }
    // The mark does not fit in little-endian order, so the other order is tried.
    reader.big_endian_ = true;
    marker = reader.mark(0);
    if (!marker) return marker.error();
    if (is_first(marker)) return reader;
    return Error{ErrorKind::refused,
                 fmt::format("{} is not a fortran_binary restart file of PALM: its first record does not have {} bytes",
                             name, first_record_bytes),
                 "", "for a file of restart_data_format mpi: forebay import palm-mpi"};
}

Result<std::int32_t> FortranReader::mark(std::uint64_t at) {
    if (at > file_bytes_ || file_bytes_ - at < mark_bytes) return damage(at, "the file ends within a record.");
    if (buffer_.empty() || at < buffer_at_ || at + mark_bytes > buffer_at_ + buffer_.size()) {
        buffer_.resize(std::min<std::uint64_t>(limits::mark_buffer_bytes, file_bytes_ - at));
        buffer_at_ = at;
        FB_TRY(file_->read(at, buffer_));
    }
    return load<std::int32_t>(buffer_.data() + (at - buffer_at_), big_endian_);
}

Result<FortranRecord> FortranReader::next() {
    FortranRecord record{.at = position_, .ranges = {}, .bytes = 0};
    for (bool first = true, more = true; more; first = false) {
        FB_TRY_ASSIGN(before, mark(position_));
        // A negative mark: another subrecord follows.
        more = before < 0;
        const auto bytes = static_cast<std::uint64_t>(more ? -std::int64_t{before} : before);
        const auto begin = position_ + mark_bytes;
        // The rest is compared, not the end: a damaged length cannot overflow.
        if (file_bytes_ - begin < bytes)
            return damage(position_, fmt::format("a record of {} bytes is cut short.", bytes));
        FB_TRY_ASSIGN(after, mark(begin + bytes));
        const auto wanted = first ? static_cast<std::int64_t>(bytes) : -static_cast<std::int64_t>(bytes);
        if (after != wanted)
            return damage(begin + bytes,
                          fmt::format("the mark after a record is {}, but {} before it.", after, before));
        if (bytes > 0) record.ranges.push_back({begin, bytes});
        record.bytes += bytes;
        position_ = begin + bytes + mark_bytes;
    }
    return record;
}

Result<std::vector<std::byte>> FortranReader::data(const FortranRecord& record, std::uint64_t bytes_max) {
    std::vector<std::byte> bytes(std::min(record.bytes, bytes_max));
    FB_TRY(read_ranges(*file_, record.ranges, 0, bytes));
    return bytes;
}

}  // namespace forebay::foreign

#include "transfer/archive/reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"

namespace forebay::archive {

namespace {

// Room for an entry that is read with its head.
constexpr std::uint64_t window_bytes_least = 2 * read_together_max;
// For a head only.
constexpr std::uint64_t head_bytes_usual = 4096;

}  // namespace

ArchiveReader::ArchiveReader(sys::OpenFile& file, std::uint64_t file_bytes, tree::DataWay way)
    : file_(file), file_bytes_(file_bytes), way_(std::move(way)), window_least_(window_bytes_least) {}

Error ArchiveReader::located(Error error) const {
    const auto after = last_path_.empty() ? std::string("at its beginning") : "behind " + show_text(last_path_);
    const auto* what = error.kind == ErrorKind::corrupt ? "is damaged at" : "cannot be read after";
    error.what = fmt::format("the archive {} byte {}, {}: {}", what, offset_, after, error.what);
    return error;
}

// Reads a window that begins at the next head and has at least `least` bytes.
Result<> ArchiveReader::fill(std::uint64_t least) {
    if (least > file_bytes_ - std::min(offset_, file_bytes_))
        return Error{ErrorKind::corrupt,
                     fmt::format("it ends at byte {}, before its end mark: the file was cut", file_bytes_)};
    const auto wanted = std::min(std::max(least, window_least_), file_bytes_ - offset_);
    if (!way_.pace->wait_turn(wanted, way_.stop)) return Error{ErrorKind::retry, "stopped early"};
    const std::shared_ptr<std::byte[]> window = std::make_unique_for_overwrite<std::byte[]>(wanted);
    FB_TRY_ASSIGN(got, file_.read(offset_, {window.get(), wanted}));
    if (got < wanted) return Error{ErrorKind::corrupt, "it became shorter during the read"};
    window_ = window;
    window_offset_ = offset_;
    window_bytes_ = wanted;
    return {};
}

Result<std::uint64_t> ArchiveReader::first_byte_from(std::uint64_t offset) const {
    std::vector<std::byte> bytes(std::min(window_bytes_least, file_bytes_ - std::min(offset, file_bytes_)));
    while (offset < file_bytes_) {
        const auto part = std::span(bytes).first(std::min<std::uint64_t>(bytes.size(), file_bytes_ - offset));
        if (!way_.pace->wait_turn(part.size(), way_.stop)) return Error{ErrorKind::retry, "stopped early"};
        FB_TRY_ASSIGN(got, file_.read(offset, part));
        if (got < part.size()) return Error{ErrorKind::corrupt, "it became shorter during the read"};
        const auto first = std::ranges::find_if(part, [](std::byte byte) { return byte != std::byte{0}; });
        offset += static_cast<std::uint64_t>(first - part.begin());
        if (first != part.end()) break;
    }
    return offset;
}

// Handles zeros in the place of a head. `behind` is the offset after the two zero blocks of an end.
Result<> ArchiveReader::check_end(std::uint64_t behind) const {
    FB_TRY(all_are_there_);
    if (!has_last_ && state_.promises_end)
        return Error{ErrorKind::corrupt, "there are zeros before its last entry: the rest is lost"};
    FB_TRY_ASSIGN(other, first_byte_from(behind));
    if (other < file_bytes_)
        return Error{
            ErrorKind::corrupt,
            fmt::format("there are zeros, as at its end, but byte {} begins further entries", other),
            {},
            fmt::format("use another copy of the archive. If archives were joined, tail -c +{} gives the next archive",
                        other + 1)};
    if (offset_ > 0) return {};
    return Error{
        ErrorKind::corrupt,
        fmt::format("all its {} bytes are zeros: its data were lost, or it is an empty tar archive", file_bytes_)};
}

// Checks that the entry lies at its recorded place and, for the last entry, that all others were read.
Result<> ArchiveReader::take_place(const DecodedHead& decoded) {
    if (decoded.place && *decoded.place != offset_)
        return Error{
            ErrorKind::corrupt,
            fmt::format("the next entry, {}, was written for byte {}: {}", show_text(decoded.member.path),
                        *decoded.place,
                        *decoded.place > offset_
                            ? fmt::format("{} bytes before it are missing", *decoded.place - offset_)
                            : fmt::format("the {} bytes before it do not belong there", offset_ - *decoded.place))};
    if (const auto& end = decoded.member.end) {
        has_last_ = true;
        if (*end != entries_)
            all_are_there_ =
                Error{ErrorKind::corrupt, fmt::format("its last entry counts {} entries with the sum {:016x}, and the "
                                                      "archive has {} with {:016x}: some entries were replaced",
                                                      end->entries, end->sum, entries_.entries, entries_.sum)};
    }
    if (decoded.head_sum) entries_.add(offset_, *decoded.head_sum);
    return {};
}

Result<std::optional<FoundMember>> ArchiveReader::next() {
    while (true) {
        const auto skipped = offset_ - window_offset_;
        const auto there = window_bytes_ - std::min(window_bytes_, skipped);
        auto decoded = decode_head({window_.get() + (there > 0 ? skipped : 0), there}, state_);
        const bool may_end = decoded && (decoded->is == DecodedHead::Is::end || decoded->is == DecodedHead::Is::cut);
        if (has_last_ && !may_end)
            return located({ErrorKind::corrupt, "further entries after its last entry were not read"});
        if (!decoded) return located(decoded.error());
        if (state_.is_ours) is_ours_ = true;
        if (decoded->is == DecodedHead::Is::end) {
            if (const auto ends = check_end(offset_ + decoded->bytes); !ends)
                return ends.error().kind == ErrorKind::corrupt ? located(ends.error()) : ends.error();
            return std::optional<FoundMember>();
        }
        const auto all = decoded->bytes + decoded->stored;
        if (decoded->is == DecodedHead::Is::cut ||
            (decoded->is == DecodedHead::Is::member && decoded->stored <= read_together_max && all > there)) {
            if (auto filled = fill(all); !filled) {
                if (decoded->is == DecodedHead::Is::member) last_path_ = decoded->member.path;
                if (filled.error().kind != ErrorKind::corrupt) return filled.error();
                return located(filled.error());
            }
            continue;
        }
        if (decoded->is == DecodedHead::Is::member)
            if (const auto is_there = take_place(*decoded); !is_there) return located(is_there.error());
        if (decoded->is == DecodedHead::Is::member) last_path_ = decoded->member.path;
        if (all > file_bytes_ - offset_)
            return located(
                {ErrorKind::corrupt,
                 fmt::format("it ends at byte {}, within the bytes of this entry: the file was cut", file_bytes_)});
        if (decoded->is == DecodedHead::Is::skipped) {
            offset_ += all;
            continue;
        }
        FB_TRY_ASSIGN(member, take(std::move(*decoded)));
        offset_ += all;
        return std::optional(std::move(member));
    }
}

Result<FoundMember> ArchiveReader::take(DecodedHead decoded) {
    FoundMember archived{.member = std::move(decoded.member),
                         .offset = offset_,
                         .stored_offset = offset_ + decoded.bytes,
                         .common = state_.common};
    if (archived.member.stored_bytes > read_together_max) return archived;
    archived.window = window_;
    archived.stored = {window_.get() + (archived.stored_offset - window_offset_), archived.member.stored_bytes};
    return archived;
}

Result<FoundMember> ArchiveReader::read_at(std::uint64_t offset, std::shared_ptr<const Records> common) {
    ArchiveReader other(file_, file_bytes_, way_);
    other.offset_ = other.window_offset_ = offset;
    other.window_least_ = head_bytes_usual;
    other.state_.common = std::move(common);
    FB_TRY_ASSIGN(next, other.next());
    if (!next) return Error{ErrorKind::corrupt, "the archive changed during the read"};
    return *std::move(next);
}

}  // namespace forebay::archive

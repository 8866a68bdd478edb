#include "archive/reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/show_text.hpp"
#include "base/try.hpp"

namespace forebay::archive {

namespace {

// Room for an entry that is read together with its head.
constexpr std::uint64_t window_bytes_least = 2 * read_together_max;
// A head alone.
constexpr std::uint64_t head_bytes_usual = 4096;

}  // namespace

ArchiveReader::ArchiveReader(sys::OpenFile& file, std::uint64_t file_bytes, tree::DataWay way)
    : file_(file), file_bytes_(file_bytes), way_(std::move(way)), window_least_(window_bytes_least) {}

Error ArchiveReader::located(Error error) const {
    const auto after = last_path_.empty() ? std::string("at its beginning") : "behind " + show_text(last_path_);
    error.what = fmt::format("the archive is damaged at byte {}, {}: {}", offset_, after, error.what);
    return error;
}

// The window begins at the next head, and has `least` bytes.
Result<> ArchiveReader::fill(std::uint64_t least) {
    if (least > file_bytes_ - std::min(offset_, file_bytes_))
        return Error{ErrorKind::corrupt,
                     fmt::format("it ends at byte {}, before its end was written: it was cut", file_bytes_)};
    const auto wanted = std::min(std::max(least, window_least_), file_bytes_ - offset_);
    if (!way_.pace->wait_turn(wanted, way_.stop)) return Error{ErrorKind::retry, "stopped before its end"};
    const std::shared_ptr<std::byte[]> window = std::make_unique_for_overwrite<std::byte[]>(wanted);
    FB_TRY_ASSIGN(got, file_.read(offset_, {window.get(), wanted}));
    if (got < wanted) return Error{ErrorKind::corrupt, "it became shorter while it was read"};
    window_ = window;
    window_offset_ = offset_;
    window_bytes_ = wanted;
    return {};
}

Result<std::optional<FoundMember>> ArchiveReader::next() {
    while (true) {
        const auto skipped = offset_ - window_offset_;
        const auto there = window_bytes_ - std::min(window_bytes_, skipped);
        auto decoded = decode_head({window_.get() + (there > 0 ? skipped : 0), there}, state_);
        if (!decoded) return located(decoded.error());
        if (state_.is_ours) is_ours_ = true;
        if (decoded->is == DecodedHead::Is::end) return std::optional<FoundMember>();
        const auto all = decoded->bytes + decoded->stored;
        if (decoded->is == DecodedHead::Is::cut ||
            (decoded->is == DecodedHead::Is::member && decoded->stored <= read_together_max && all > there)) {
            if (decoded->is == DecodedHead::Is::member) last_path_ = decoded->member.path;
            if (auto filled = fill(all); !filled) {
                if (filled.error().kind != ErrorKind::corrupt) return filled.error();
                return located(filled.error());
            }
            continue;
        }
        if (decoded->is == DecodedHead::Is::member) last_path_ = decoded->member.path;
        if (all > file_bytes_ - offset_)
            return located(
                {ErrorKind::corrupt,
                 fmt::format("it ends at byte {}, within the bytes of this entry: it was cut", file_bytes_)});
        if (decoded->is == DecodedHead::Is::passed_over) {
            offset_ += all;
            continue;
        }
        FB_TRY_ASSIGN(found, take(std::move(*decoded)));
        offset_ += all;
        return std::optional(std::move(found));
    }
}

Result<FoundMember> ArchiveReader::take(DecodedHead decoded) {
    FoundMember found{.member = std::move(decoded.member),
                      .offset = offset_,
                      .stored_offset = offset_ + decoded.bytes,
                      .common = state_.common};
    if (found.member.stored_bytes > read_together_max) return found;
    found.window = window_;
    found.stored = {window_.get() + (found.stored_offset - window_offset_), found.member.stored_bytes};
    return found;
}

Result<FoundMember> ArchiveReader::read_at(std::uint64_t offset, std::shared_ptr<const Records> common) {
    ArchiveReader other(file_, file_bytes_, way_);
    other.offset_ = other.window_offset_ = offset;
    other.window_least_ = head_bytes_usual;
    other.state_.common = std::move(common);
    FB_TRY_ASSIGN(found, other.next());
    if (!found) return Error{ErrorKind::corrupt, "the archive has changed while it was read"};
    return *std::move(found);
}

}  // namespace forebay::archive

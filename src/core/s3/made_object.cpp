#include "core/s3/made_object.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/base/crc32c.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"

namespace forebay::s3 {

namespace {

constexpr std::string_view mark_title = "forebay upload 1";
// Processes share a file in stretches of 32 MiB (copy/large_file). Each stretch must be whole parts.
constexpr std::uint64_t shared_part_bytes_max = 32u << 20;

// The lines of a mark: title, key, upload id, identity of the source.
struct UploadMark {
    Bucket::Upload upload;
    std::string identity;
};

std::string text_of(const UploadMark& mark) {
    return fmt::format("{}\n{}\n{}\n{}\n", mark_title, mark.upload.key, mark.upload.id, mark.identity);
}

std::string_view folder_of(std::string_view key) { return key.substr(0, key.rfind('/') + 1); }

// Returns nothing if there is no mark. A valid mark gives an upload in its own directory. A mark for another directory
// was copied or forged, and is ignored.
Result<std::optional<UploadMark>> mark_at(Bucket& bucket, const std::string& mark_key) {
    std::string all;
    const auto object = bucket.read_first(mark_key, false, all);
    if (!object && object.error().kind != ErrorKind::missing) return object.error();
    std::optional<UploadMark> mark;
    // A mark is small, so a larger object is not read further.
    if (!object || !*object || (*object)->bytes != all.size()) return mark;
    std::string_view text = all;
    std::vector<std::string> lines;
    while (!text.empty()) {
        lines.emplace_back(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(text.size(), lines.back().size() + 1));
    }
    const bool is_mark = lines.size() == 4 && lines[0] == mark_title && !lines[2].empty() &&
                         folder_of(lines[1]) == folder_of(mark_key) && folder_of(lines[1]) != lines[1];
    if (is_mark) mark = UploadMark{{lines[1], lines[2]}, lines[3]};
    return mark;
}

// A hash of the source's state. The access time is left out, because the copy itself changes it. So is the device
// number, because each host has its own.
std::string identity_of(const sys::EntryStatus& source, ObjectState state, std::uint64_t part_bytes) {
    state.accessed = {};
    auto text =
        fmt::format("{} {} {}.{} {}.{} {}", source.id.number, source.bytes, source.modified.seconds,
                    source.modified.nanoseconds, source.changed.seconds, source.changed.nanoseconds, part_bytes);
    for (const auto& [name, value] : state.headers()) text += "\n" + name + ": " + value;
    return fmt::format("{:016x}", siphash({}, std::as_bytes(std::span(text))));
}

}  // namespace

std::uint64_t part_bytes_of(std::uint64_t bytes) {
    auto part = part_bytes_least;
    while (part * Bucket::parts_max < bytes) part *= 2;
    return part;
}

MadeObject::MadeObject(Bucket& bucket, std::string temporary_key, ObjectState first_state)
    : info{.key = std::move(temporary_key), .state = std::move(first_state), .etag = {}, .crc32c = {}},
      bucket_(bucket) {}

Result<std::shared_ptr<MadeObject>> MadeObject::join(Bucket& bucket, const std::string& temporary_key) {
    FB_TRY_ASSIGN(mark, mark_at(bucket, temporary_key + mark_ending));
    if (!mark) return Error{ErrorKind::missing, "the record of the upload is missing"};
    auto joined = std::make_shared<MadeObject>(bucket, temporary_key, ObjectState{});
    joined->upload_ = mark->upload;
    joined->is_joined_ = true;
    return joined;
}

sys::EntryStatus MadeObject::status() {
    const std::lock_guard lock(mutex);
    return status_of(info, bucket_.number());
}

std::uint64_t MadeObject::length_of(std::uint64_t index) const {
    return std::min(part_bytes_, info.bytes - index * part_bytes_);
}

Result<> MadeObject::begin(const std::string& final_key, const sys::EntryStatus& source) {
    const std::lock_guard lock(mutex);
    info.bytes = source.bytes;
    part_bytes_ = part_bytes_of(source.bytes);
    pieces_.clear();
    pieces_.resize(std::max<std::uint64_t>(1, (source.bytes + part_bytes_ - 1) / part_bytes_));
    // Processes share only uploads whose parts divide their stretches.
    if (is_joined_ && (!is_in_parts() || part_bytes_ > shared_part_bytes_max || upload_.key != final_key))
        return Error{ErrorKind::unsupported, "only one process may write this upload"};
    if (!is_in_parts() || is_joined_) return {};
    upload_.key = final_key;
    identity_ = identity_of(source, info.state, part_bytes_);
    FB_TRY(go_on(identity_));
    return was_resumed_ ? Result<>() : begin_upload();
}

Result<> MadeObject::begin_upload() {
    FB_TRY_ASSIGN(id, bucket_.begin_upload(upload_.key, info.state));
    upload_.id = id;
    // The mark comes right after the upload begins: without a mark nobody would find the upload after a kill.
    auto marked = bucket_.put_text(info.key + mark_ending, text_of({upload_, identity_}));
    if (!marked) static_cast<void>(bucket_.give_up_upload(upload_));
    return marked;
}

// Resumes a killed run's upload. A part counts if the server has it whole and with a CRC32C.
Result<> MadeObject::go_on(const std::string& identity) {
    FB_TRY_ASSIGN(mark, mark_at(bucket_, info.key + mark_ending));
    if (!mark) return {};  // no mark: a new upload begins
    // The source has changed since, so the old parts are useless.
    if (mark->identity != identity || mark->upload.key != upload_.key) return bucket_.give_up_upload(mark->upload);
    const auto parts = bucket_.parts_of(mark->upload);
    // The upload may have ended or been aborted after its mark was written.
    if (!parts) return parts.error().kind == ErrorKind::missing ? Result<>() : Result<>(parts.error());
    for (const auto& part : *parts) {
        const auto index = part.number - 1;
        const auto checksum = checksum_from(part.crc32c);
        if (part.number == 0 || index >= pieces_.size() || part.bytes != length_of(index) || !checksum) continue;
        pieces_[index].is_sent = true;
        pieces_[index].filled = part.bytes;
        pieces_[index].crc32c = *checksum;
        pieces_[index].sent = {.etag = part.etag, .crc32c = *checksum};
    }
    upload_ = mark->upload;
    was_resumed_ = true;
    return {};
}

std::uint64_t MadeObject::present_bytes() {
    const std::lock_guard lock(mutex);
    std::uint64_t bytes = 0;
    for (const auto& piece : pieces_) {
        if (!piece.is_sent) break;
        bytes += piece.filled;
    }
    return bytes;
}

std::uint64_t MadeObject::held_at(std::uint64_t offset) {
    const std::lock_guard lock(mutex);
    const auto index = offset / part_bytes_;
    if (index >= pieces_.size() || !pieces_[index].is_sent) return 0;
    return length_of(index) - offset % part_bytes_;
}

Result<MadeObject::Piece*> MadeObject::piece_at(std::uint64_t offset, std::uint64_t bytes) {
    const std::lock_guard lock(mutex);
    const auto index = offset / part_bytes_;
    if (index >= pieces_.size() || offset + bytes > info.bytes)
        return Error{ErrorKind::refused, "these bytes lie after the end of the object"};
    auto& piece = pieces_[index];
    if (!piece.bytes && !piece.is_sent) piece.bytes = bucket_.part_memory.take(length_of(index));
    return &piece;
}

Result<> MadeObject::filled(std::uint64_t index, std::uint64_t bytes) {
    Piece* piece = nullptr;
    {
        const std::lock_guard lock(mutex);
        piece = &pieces_[index];
        piece->filled += bytes;
        if (!is_in_parts() || piece->filled < length_of(index)) return {};
    }
    // No lock during the request: other threads fill other parts meanwhile.
    FB_TRY_ASSIGN(sent, bucket_.put_part(upload_, index + 1, all_of(index)));
    const std::lock_guard lock(mutex);
    piece->sent = sent;
    piece->crc32c = sent.crc32c;
    piece->is_sent = true;
    piece->bytes.reset();
    return {};
}

Result<std::uint64_t> MadeObject::copy_from(sys::OpenFile& source, std::uint64_t offset, std::uint64_t bytes) {
    bytes = std::min(bytes, part_bytes_ - offset % part_bytes_);
    FB_TRY_ASSIGN(piece, piece_at(offset, bytes));
    // A part from an earlier run is neither read nor sent again.
    if (piece->is_sent) return bytes;
    FB_TRY_ASSIGN(got, source.read(offset, {piece->bytes.get() + offset % part_bytes_, bytes}));
    FB_TRY(filled(offset / part_bytes_, got));
    return got;
}

Result<> MadeObject::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const auto now = std::min<std::uint64_t>(bytes.size(), part_bytes_ - offset % part_bytes_);
        FB_TRY_ASSIGN(piece, piece_at(offset, now));
        if (!piece->is_sent) {
            std::memcpy(piece->bytes.get() + offset % part_bytes_, bytes.data(), now);
            FB_TRY(filled(offset / part_bytes_, now));
        }
        offset += now;
        bytes = bytes.subspan(now);
    }
    return {};
}

Result<> MadeObject::resize(std::uint64_t bytes) {
    const std::lock_guard lock(mutex);
    if (bytes == info.bytes) return {};
    return Error{ErrorKind::unsupported, "the size of an object must be set before its bytes"};
}

Result<std::uint64_t> MadeObject::read(std::uint64_t offset, std::span<std::byte> bytes) {
    const std::lock_guard lock(mutex);
    if (is_in_parts()) return Error{ErrorKind::unsupported, "an upload cannot be read before its end"};
    if (offset >= info.bytes || !pieces_[0].bytes) return std::uint64_t{0};
    const auto count = std::min<std::uint64_t>(bytes.size(), info.bytes - offset);
    std::memcpy(bytes.data(), pieces_[0].bytes.get() + offset, count);
    return count;
}

std::uint32_t MadeObject::checksum() {
    const std::lock_guard lock(mutex);
    if (!is_in_parts()) return info.bytes == 0 ? 0 : crc32c(all_of(0));
    std::uint32_t crc = 0;
    for (std::uint64_t index = 0; index < pieces_.size(); ++index)
        // Sent parts are not in memory any more, so the checksums of the parts are joined.
        crc = crc32c_join(crc, pieces_[index].crc32c, length_of(index));
    return crc;
}

Result<std::string> MadeObject::sent_parts() {
    const std::lock_guard lock(mutex);
    std::string lines;
    for (std::size_t index = 0; index < pieces_.size(); ++index) {
        const auto& piece = pieces_[index];
        if (piece.is_sent) lines += fmt::format("{} {:x} {}\n", index, piece.crc32c, piece.sent.etag);
        else if (piece.filled > 0) return Error{ErrorKind::unsupported, "a part of an upload is incomplete"};
    }
    return lines;
}

Result<> MadeObject::take_sent(const std::string& lines) {
    const std::lock_guard lock(mutex);
    for (std::string_view rest = lines; !rest.empty();) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        std::uint64_t index = 0;
        std::uint32_t crc = 0;
        const auto* end = line.data() + line.size();
        const auto number = std::from_chars(line.data(), end, index);
        const auto checksum = std::from_chars(std::min(number.ptr + 1, end), end, crc, 16);
        if (number.ec != std::errc() || checksum.ec != std::errc() || index >= pieces_.size() || checksum.ptr == end)
            return Error{ErrorKind::corrupt, "another process sent an invalid list of parts"};
        auto& piece = pieces_[index];
        piece.sent = {.etag = std::string(checksum.ptr + 1, end), .crc32c = crc};
        piece.crc32c = crc;
        piece.filled = length_of(index);
        piece.is_sent = true;
    }
    return {};
}

Result<> MadeObject::publish(const std::string& final_key) {
    if (is_in_parts()) return end_upload(final_key);
    if (info.bytes > 0 && pieces_[0].filled < info.bytes)
        return Error{ErrorKind::broken, "an object would get its key before all its bytes arrived"};
    return bucket_.put(final_key, info.state, info.bytes == 0 ? std::span<const std::byte>() : all_of(0));
}

Result<> MadeObject::end_upload(const std::string& final_key) {
    if (final_key != upload_.key) return Error{ErrorKind::broken, "an upload would get another key than at its start"};
    std::vector<Bucket::Part> parts;
    for (const auto& piece : pieces_) {
        if (!piece.is_sent) return Error{ErrorKind::broken, "an upload would end before all its parts arrived"};
        parts.push_back(piece.sent);
    }
    auto ended = bucket_.end_upload(upload_, parts);
    if (!ended && ended.error().kind == ErrorKind::missing) {
        // If the answer to an earlier attempt was lost, the upload is gone and the object exists.
        FB_TRY_ASSIGN(there, bucket_.look(final_key));
        if (there && there->bytes == info.bytes && there->state == info.state) ended = {};
    }
    FB_TRY(ended);
    // The mark goes last: a kill before this line leaves a mark that a later run can find and remove.
    FB_TRY(bucket_.remove(info.key + mark_ending));
    return {};
}

void MadeObject::give_up() {
    if (!is_in_parts() || upload_.id.empty()) return;
    static_cast<void>(bucket_.give_up_upload(upload_));
    static_cast<void>(bucket_.remove(info.key + mark_ending));
}

Result<> MadeObject::remove_mark(Bucket& bucket, const std::string& mark_key) {
    FB_TRY_ASSIGN(mark, mark_at(bucket, mark_key));
    if (mark) FB_TRY(bucket.give_up_upload(mark->upload));
    return bucket.remove(mark_key);
}

Result<bool> MadeObject::is_mark(Bucket& bucket, const std::string& key) {
    FB_TRY_ASSIGN(mark, mark_at(bucket, key));
    return mark.has_value();
}

}  // namespace forebay::s3

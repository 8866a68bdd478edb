#include "core/s3/bucket.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/crc32c.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/s3/key.hpp"

namespace forebay::s3 {

namespace {

constexpr long partial = 206, not_found = 404, not_this_version = 412, no_such_range = 416;
// The limit of S3 for one copy request. A larger object is copied in parts.
constexpr std::uint64_t copy_bytes_max = 5ull << 30;
constexpr std::size_t text_bytes_max = 64u << 10;

std::string xml_text(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        switch (letter) {
            case '&': result += "&amp;"; break;
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '"': result += "&quot;"; break;
            default: result += letter;
        }
    }
    return result;
}

std::string range_text(sys::ByteStretch bytes) { return fmt::format("bytes={}-{}", bytes.begin, bytes.end - 1); }

}  // namespace

// A proxy may answer instead of the bucket, for example with a login page. Such an answer has no ETag.
Result<> Bucket::check_object(const std::string& key, const HttpAnswer& answer) const {
    if (!answer.header("etag").empty()) return {};
    return Error{ErrorKind::corrupt, fmt::format("the server of s3://{}/{} is not an S3 server: its answer has no ETag",
                                                 name(), show_text(key))};
}

// A server that changes the bytes on the way, for example unpacks them, sends no length.
Result<> Bucket::check_bytes(const std::string& key, const HttpAnswer& answer) const {
    FB_TRY(check_object(key, answer));
    const bool is_told = !answer.header("content-length").empty() || !answer.header("content-range").empty();
    if (is_told || key.ends_with('/')) return {};
    return Error{ErrorKind::corrupt, fmt::format("s3://{}/{}: the answer does not give the size of the object. Is it "
                                                 "stored with a Content-Encoding, and unpacked on the way?",
                                                 name(), show_text(key))};
}

// A cache or a server without support for ranges may answer with other bytes.
Result<> Bucket::check_range(const std::string& key, const HttpAnswer& answer, std::uint64_t begin) const {
    const auto& range = answer.header("content-range");
    if (answer.status != partial || range.starts_with(fmt::format("bytes {}-", begin))) return {};
    return Error{ErrorKind::corrupt,
                 fmt::format("s3://{}/{}: the request was for bytes from {} on, but the answer has \"{}\"", name(),
                             show_text(key), begin, show_text(range))};
}

Error Bucket::other_than_kept(const ObjectInfo& object, std::uint32_t crc) const {
    return {ErrorKind::corrupt,
            fmt::format("the bytes received from s3://{}/{} have the checksum {}, but the server stores {}", name(),
                        show_text(object.key), checksum_text(crc), checksum_text(object.crc32c.value_or(0)))};
}

Result<std::optional<ObjectInfo>> Bucket::look(const std::string& key) {
    // Without the checksum mode servers send no checksum.
    FB_TRY_ASSIGN(answer, client_.send({.method = "HEAD",
                                        .key = key,
                                        .headers = {{"x-amz-checksum-mode", "ENABLED"}},
                                        .accepted_status = not_found}));
    if (answer.status == not_found) return std::optional<ObjectInfo>();
    FB_TRY(check_bytes(key, answer));
    return std::optional(object_from(key, answer, owner));
}

Result<std::optional<ObjectInfo>> Bucket::read_first(const std::string& key, bool is_small, std::string& first) {
    bool is_larger = false;
    auto object = try_read_first(key, is_small, first, is_larger);
    // The first attempt may fail because the object has grown since its listing. The second then asks for a range.
    const bool was_wrong = !object && object.error().kind == ErrorKind::corrupt;
    return was_wrong ? try_read_first(key, is_small && !is_larger, first, is_larger) : std::move(object);
}

Result<std::optional<ObjectInfo>> Bucket::try_read_first(const std::string& key, bool is_small, std::string& first,
                                                         bool& is_larger) {
    first.clear();
    const auto take = [&](std::uint64_t offset, std::span<const std::byte> part) -> Result<> {
        is_larger = offset + part.size() > first_bytes_max;
        if (is_larger) return Error{ErrorKind::corrupt, "the server sends more bytes than requested"};
        first.resize(offset);  // drops the bytes of an earlier attempt
        first.append(reinterpret_cast<const char*>(part.data()), part.size());
        return {};
    };
    Pairs headers{{"x-amz-checksum-mode", "ENABLED"}};
    if (!is_small) headers.emplace_back("range", range_text({0, first_bytes_max}));
    FB_TRY_ASSIGN(answer, client_.send({.method = "GET",
                                        .key = key,
                                        .headers = std::move(headers),
                                        .take = take,
                                        .accepted_status = no_such_range}));
    if (answer.status == no_such_range) return look(key);  // an empty object has no first byte
    FB_TRY(check_bytes(key, answer));
    FB_TRY(check_range(key, answer, 0));
    auto object = object_from(key, answer, owner);
    // A cut answer must not pass for a short object.
    if (first.size() != std::min(first_bytes_max, object.bytes) && !key.ends_with('/'))
        return Error{ErrorKind::corrupt, fmt::format("GET s3://{}/{}: only {} of {} bytes arrived", name(),
                                                     show_text(key), first.size(), object.bytes)};
    if (first.size() < object.bytes) return std::optional(std::move(object));
    if (!is_small) {  // servers send no checksum with a range
        FB_TRY_ASSIGN(looked, look(key));
        if (looked && looked->etag == object.etag) object.crc32c = looked->crc32c;
    }
    const auto crc = object.crc32c ? crc32c(std::as_bytes(std::span(first))) : 0;
    if (object.crc32c && crc != *object.crc32c) return other_than_kept(object, crc);
    return std::optional(std::move(object));
}

Result<bool> Bucket::read(const ObjectInfo& object, sys::ByteStretch bytes, const Take& take) {
    // If-Match: the bytes of two versions must not mix.
    std::uint64_t received = 0;
    FB_TRY_ASSIGN(answer,
                  client_.send({.method = "GET",
                                .key = object.key,
                                .headers = {{"range", range_text(bytes)}, {"if-match", object.etag}},
                                .take = [&](std::uint64_t offset, std::span<const std::byte> part) -> Result<> {
                                    received = offset + part.size();
                                    if (received > bytes.end - bytes.begin)
                                        return Error{ErrorKind::corrupt, "the server sends more bytes than requested"};
                                    return take(offset, part);
                                },
                                .accepted_status = not_this_version}));
    if (answer.status == not_this_version) return false;
    FB_TRY(check_range(object.key, answer, bytes.begin));
    if (answer.status == partial && received == bytes.end - bytes.begin) return true;
    return Error{ErrorKind::corrupt, fmt::format("GET s3://{}/{}: only {} of {} bytes arrived", name(),
                                                 show_text(object.key), received, bytes.end - bytes.begin)};
}

Result<std::string> Bucket::text_of(const std::string& key) {
    FB_TRY_ASSIGN(answer, client_.send({.method = "GET", .key = key}));
    if (answer.body.size() > text_bytes_max)
        return Error{ErrorKind::corrupt, show_text(key) + " was not written by Forebay"};
    return std::move(answer.body);
}

Result<std::optional<Bucket::Text>> Bucket::find_text(const std::string& key) {
    FB_TRY_ASSIGN(answer, client_.send({.method = "GET", .key = key, .accepted_status = not_found}));
    if (answer.status == not_found) return std::optional<Text>();
    FB_TRY(check_object(key, answer));
    if (answer.body.size() > text_bytes_max)
        return Error{ErrorKind::corrupt, show_text(key) + " was not written by Forebay"};
    return std::optional(Text{std::move(answer.body), answer.header("etag")});
}

// The keys are checked because a cache may answer with another listing.
Result<KeyPage> Bucket::list(const Page& page) {
    Pairs query{{"list-type", "2"},
                {"encoding-type", "url"},
                {"prefix", page.prefix},
                {"max-keys", std::to_string(page.names_max)}};
    if (!page.is_deep) query.emplace_back("delimiter", "/");
    if (!page.from.empty()) query.emplace_back("continuation-token", page.from);
    FB_TRY_ASSIGN(answer, client_.send({.method = "GET", .key = "", .query = std::move(query)}));
    FB_TRY_ASSIGN(listing, listing_from(answer.body));
    const auto check = [&](const std::string& key) -> Result<> {
        if (key.starts_with(page.prefix)) return {};
        return Error{ErrorKind::corrupt, fmt::format("the server's listing of s3://{}/{} has the key \"{}\"", name(),
                                                     show_text(page.prefix), show_text(key))};
    };
    for (const auto& object : listing.objects) FB_TRY(check(object.key));
    for (const auto& prefix : listing.prefixes) FB_TRY(check(prefix));
    return listing;
}

Result<bool> Bucket::has_prefix(const std::string& prefix) {
    FB_TRY_ASSIGN(listing, list({.prefix = prefix, .from = {}, .names_max = 1}));
    return !listing.objects.empty() || !listing.prefixes.empty();
}

// Succeeds only if the server proves that it checked the bytes: its answer has their checksum, or it accepted an MD5.
Result<HttpAnswer> Bucket::send_bytes(S3Request request) {
    const auto checksum = checksum_text(crc32c(request.body));
    const auto plain = request.headers;
    for (int turn = 0; turn < 2; ++turn) {
        request.headers = plain;
        request.headers.emplace_back("x-amz-checksum-crc32c", checksum);
        const bool with_md5 = wants_md5_;
        if (with_md5) request.headers.emplace_back("content-md5", md5_base64(request.body));
        FB_TRY_ASSIGN(answer, client_.send(request));
        if (answer.status == request.accepted_status) return answer;
        const auto& header = answer.header("x-amz-checksum-crc32c");
        if (!header.empty() && header != checksum)
            return Error{ErrorKind::corrupt,
                         fmt::format("s3://{}/{}: the server received the checksum {}, but {} was sent", name(),
                                     show_text(request.key), show_text(header), checksum)};
        FB_TRY(check_object(request.key, answer));
        if (with_md5 || header == checksum) return answer;
        wants_md5_ = true;
    }
    return Error{ErrorKind::broken, "an upload was sent twice, and not checked"};
}

Result<> Bucket::put(const std::string& key, const ObjectState& state, std::span<const std::byte> bytes) {
    auto headers = state.headers();
    headers.emplace_back("content-type", key.ends_with('/') ? "application/x-directory" : "application/octet-stream");
    FB_TRY(send_bytes({.method = "PUT", .key = key, .headers = std::move(headers), .body = bytes}));
    return {};
}

Result<> Bucket::put_text(const std::string& key, const std::string& text) {
    FB_TRY(send_bytes({.method = "PUT", .key = key, .body = std::as_bytes(std::span(text))}));
    return {};
}

Result<std::optional<std::string>> Bucket::put_text_over(const std::string& key, const std::string& text,
                                                         const std::string& etag) {
    auto condition = etag.empty() ? Pairs{{"if-none-match", "*"}} : Pairs{{"if-match", etag}};
    const auto answer = send_bytes({.method = "PUT",
                                    .key = key,
                                    .headers = std::move(condition),
                                    .body = std::as_bytes(std::span(text)),
                                    .accepted_status = not_this_version});
    // the object of this version was removed
    const bool is_gone = !answer && answer.error().kind == ErrorKind::missing;
    if (is_gone || (answer && answer->status == not_this_version)) return std::optional<std::string>();
    FB_TRY(answer);
    return std::optional(answer->header("etag"));
}

Result<> Bucket::remove(const std::string& key) {
    FB_TRY(client_.send({.method = "DELETE", .key = key, .accepted_status = not_found}));
    return {};
}

Result<std::vector<NotRemoved>> Bucket::remove_all(const std::vector<std::string>& keys) {
    // Quiet: the answer lists only the keys that stayed.
    std::string body = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>";
    for (const auto& key : keys) body += "<Object><Key>" + xml_text(key) + "</Key></Object>";
    body += "</Delete>";
    const auto bytes = std::as_bytes(std::span(body));
    FB_TRY_ASSIGN(answer, client_.send({.method = "POST",
                                        .key = "",
                                        .query = {{"delete", ""}},
                                        .headers = {{"content-md5", md5_base64(bytes)}},
                                        .body = bytes}));
    FB_TRY_ASSIGN(stayed, not_removed_from(answer.body));
    for (const auto& object : stayed)
        if (std::ranges::find(keys, object.key) == keys.end())  // the error belongs to no single key
            return Error{ErrorKind::refused, fmt::format("removal of {} keys of s3://{}: {}: {}", keys.size(), name(),
                                                         show_text(object.code), show_text(object.message))};
    return stayed;
}

Result<> Bucket::copy(const ObjectInfo& object, const std::string& key) {
    if (object.bytes == 0) return put(key, object.state, {});
    const auto source = "/" + name() + "/" + url_encoded(object.key, true);
    const Pairs condition{{"x-amz-copy-source", source}, {"x-amz-copy-source-if-match", object.etag}};
    if (object.bytes <= copy_bytes_max) {
        auto headers = object.state.headers();
        headers.insert(headers.end(), condition.begin(), condition.end());
        // Without REPLACE the copy gets the metadata that the server keeps.
        headers.emplace_back("x-amz-metadata-directive", "REPLACE");
        headers.emplace_back("content-type", "application/octet-stream");
        FB_TRY_ASSIGN(answer,
                      client_.send({.method = "PUT", .key = key, .headers = std::move(headers), .is_long = true}));
        FB_TRY(completed_from(answer.body));
        return {};
    }
    FB_TRY_ASSIGN(id, begin_upload(key, object.state));
    const Upload upload{key, id};
    const auto copied = [&]() -> Result<> {
        // At least 1 GiB a part, and more if the upload would have more than 10,000 parts.
        const auto part_bytes = std::max<std::uint64_t>(1u << 30, (object.bytes + parts_max - 1) / parts_max);
        std::vector<Part> parts;
        for (std::uint64_t begin = 0; begin < object.bytes; begin += part_bytes) {
            auto headers = condition;
            headers.emplace_back("x-amz-copy-source-range",
                                 range_text({begin, std::min(begin + part_bytes, object.bytes)}));
            FB_TRY_ASSIGN(answer,
                          client_.send({.method = "PUT",
                                        .key = key,
                                        .query = {{"partNumber", std::to_string(parts.size() + 1)}, {"uploadId", id}},
                                        .headers = std::move(headers),
                                        .is_long = true}));
            FB_TRY_ASSIGN(part, completed_from(answer.body));
            parts.push_back({part.etag, checksum_from(part.crc32c).value_or(0)});
        }
        return end_upload(upload, parts);
    }();
    // An unfinished upload takes space until somebody aborts it.
    if (!copied) static_cast<void>(give_up_upload(upload));
    return copied;
}

Result<std::string> Bucket::begin_upload(const std::string& key, const ObjectState& state) {
    auto headers = state.headers();
    headers.emplace_back("content-type", "application/octet-stream");
    // FULL_OBJECT: the server keeps the checksum of all bytes, not a checksum of the parts' checksums.
    headers.emplace_back("x-amz-checksum-algorithm", "CRC32C");
    headers.emplace_back("x-amz-checksum-type", "FULL_OBJECT");
    FB_TRY_ASSIGN(
        answer,
        client_.send({.method = "POST", .key = key, .query = {{"uploads", ""}}, .headers = std::move(headers)}));
    return upload_id_from(answer.body);
}

Result<Bucket::Part> Bucket::put_part(const Upload& upload, std::uint64_t number, std::span<const std::byte> bytes) {
    FB_TRY_ASSIGN(answer, send_bytes({.method = "PUT",
                                      .key = upload.key,
                                      .query = {{"partNumber", std::to_string(number)}, {"uploadId", upload.id}},
                                      .body = bytes}));
    return Part{.etag = answer.header("etag"), .crc32c = crc32c(bytes)};
}

Result<std::vector<UploadedPart>> Bucket::parts_of(const Upload& upload) {
    std::vector<UploadedPart> all;
    std::uint64_t after = 0;
    do {
        FB_TRY_ASSIGN(answer, client_.send({.method = "GET",
                                            .key = upload.key,
                                            .query = {{"uploadId", upload.id},
                                                      {"max-parts", "1000"},
                                                      {"part-number-marker", std::to_string(after)}}}));
        FB_TRY_ASSIGN(page, parts_from(answer.body));
        all.insert(all.end(), page.parts.begin(), page.parts.end());
        // A list that goes back would never end.
        if (page.is_truncated && page.next <= after)
            return Error{ErrorKind::corrupt, "the server's list of parts goes back"};
        after = page.is_truncated ? page.next : 0;
    } while (after > 0 && after <= parts_max);
    return all;
}

Result<> Bucket::end_upload(const Upload& upload, const std::vector<Part>& parts) {
    std::string body = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (std::size_t index = 0; index < parts.size(); ++index)
        // A part that was sent with an MD5, or whose checksum is not known, is listed without a CRC32C.
        body += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag>{}</Part>", index + 1,
                            xml_text(parts[index].etag),
                            parts[index].crc32c == 0 || wants_md5_
                                ? ""
                                : "<ChecksumCRC32C>" + checksum_text(parts[index].crc32c) + "</ChecksumCRC32C>");
    body += "</CompleteMultipartUpload>";
    FB_TRY_ASSIGN(answer, client_.send({.method = "POST",
                                        .key = upload.key,
                                        .query = {{"uploadId", upload.id}},
                                        .headers = {{"x-amz-checksum-type", "FULL_OBJECT"}},
                                        .body = std::as_bytes(std::span(body)),
                                        .is_long = true}));
    FB_TRY(completed_from(answer.body));
    return {};
}

Result<> Bucket::give_up_upload(const Upload& upload) {
    FB_TRY(client_.send(
        {.method = "DELETE", .key = upload.key, .query = {{"uploadId", upload.id}}, .accepted_status = not_found}));
    return {};
}

Result<std::vector<Bucket::Upload>> Bucket::uploads_of(const std::string& prefix) {
    std::vector<Upload> all;
    UploadPage page;
    do {
        Pairs query{{"uploads", ""}, {"encoding-type", "url"}, {"prefix", prefix}};
        if (page.is_truncated) {
            query.emplace_back("key-marker", page.next_key);
            query.emplace_back("upload-id-marker", page.next_id);
        }
        // Markers that stand still would repeat one page for ever.
        const auto before = page.next_key + "\n" + page.next_id;
        FB_TRY_ASSIGN(answer, client_.send({.method = "GET", .key = "", .query = std::move(query)}));
        FB_TRY_ASSIGN(next, uploads_from(answer.body));
        page = std::move(next);
        for (auto& upload : page.uploads)
            if (upload.key.starts_with(prefix)) all.push_back({std::move(upload.key), std::move(upload.id)});
        if (page.is_truncated && page.next_key + "\n" + page.next_id == before)
            return Error{ErrorKind::corrupt, "the server's list of uploads repeats a page"};
    } while (page.is_truncated);
    return all;
}

}  // namespace forebay::s3

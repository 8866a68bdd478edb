// The requests to one bucket: look at, read, put, copy and remove objects.
//
// Threads: any, concurrently.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/s3/answers.hpp"
#include "core/s3/client.hpp"
#include "core/s3/object.hpp"
#include "core/s3/part_memory.hpp"

namespace forebay::s3 {

class MadeObject;

class Bucket {
public:
    static constexpr std::size_t keys_max = 1'000;  // the most keys in one removal request
    /// The most bytes that arrive when an object is opened. A smaller object arrives whole, so it costs one request.
    static constexpr std::uint64_t first_bytes_max = 1u << 20;
    static constexpr std::uint64_t parts_max = 10'000;  // the most parts of one upload

    Bucket(S3Settings settings, std::string name, sys::NewEntryOwner new_owner, HttpLimits limits = {})
        : owner(new_owner), client_(std::move(settings), std::move(name), limits) {}

    /// Returns nothing if the object does not exist.
    Result<std::optional<ObjectInfo>> look(const std::string& key);
    /// Also reads the first bytes, at most `first_bytes_max`. If these are the whole object, they are compared with the
    /// checksum that the server keeps. `is_small`: the object probably has no more bytes. It is then read without a
    /// range, because servers send checksums only with whole objects.
    Result<std::optional<ObjectInfo>> read_first(const std::string& key, bool is_small, std::string& first);
    /// Reads bytes of this version of the object. Returns false if the key has another version now.
    using Take = std::function<Result<>(std::uint64_t offset, std::span<const std::byte>)>;
    Result<bool> read(const ObjectInfo& object, sys::ByteStretch bytes, const Take& take);
    /// Reads a small object. `missing` if it does not exist.
    Result<std::string> text_of(const std::string& key);
    /// Reads a small object and its version. Returns nothing if it does not exist.
    struct Text {
        std::string text, etag;
    };
    Result<std::optional<Text>> find_text(const std::string& key);

    struct Page {
        std::string prefix, from;
        std::uint32_t names_max = 1000;
        bool is_deep = false;  // all keys; else keys with a further slash only up to that slash
    };
    /// Returns one page of the keys with this prefix. KeyPages returns all pages.
    Result<KeyPage> list(const Page& page);
    /// Returns true if any key begins with `prefix`.
    Result<bool> has_prefix(const std::string& prefix);

    Result<> put(const std::string& key, const ObjectState& state, std::span<const std::byte> bytes);
    Result<> put_text(const std::string& key, const std::string& text);
    /// Puts the text only if the key has the version `etag`; with an empty `etag`, only if the key does not exist.
    /// Returns the new version, or nothing if the condition did not hold.
    Result<std::optional<std::string>> put_text_over(const std::string& key, const std::string& text,
                                                     const std::string& etag);
    /// Copies the bytes to `key` with the metadata of `object`. `key` may be its own key. `missing` if the object is
    /// gone.
    Result<> copy(const ObjectInfo& object, const std::string& key);
    Result<> remove(const std::string& key);
    /// Removes up to 1,000 keys with one request. It is an error if the answer does not say which keys stayed.
    Result<std::vector<NotRemoved>> remove_all(const std::vector<std::string>& keys);

    Result<std::string> begin_upload(const std::string& key, const ObjectState& state);
    struct Upload {
        std::string key, id;
    };
    struct Part {
        std::string etag;
        std::uint32_t crc32c = 0;
    };
    Result<Part> put_part(const Upload& upload, std::uint64_t number, std::span<const std::byte> bytes);
    /// `missing` if the server does not know the upload any more.
    Result<std::vector<UploadedPart>> parts_of(const Upload& upload);
    Result<> end_upload(const Upload& upload, const std::vector<Part>& parts);
    Result<> give_up_upload(const Upload& upload);
    /// Returns the unfinished uploads of keys with this prefix.
    Result<std::vector<Upload>> uploads_of(const std::string& prefix);

    /// The error for received bytes whose checksum differs from the server's.
    Error other_than_kept(const ObjectInfo& object, std::uint32_t crc) const;

    std::uint64_t number() const { return client_.number(); }
    const std::string& name() const { return client_.bucket(); }

    const sys::NewEntryOwner owner;
    PartMemory part_memory;  // shared by all objects that are being written, and outlives them

    /// `making`: entries that this process is writing, by their temporary keys. `new_folders`: directories that have no
    /// object yet.
    std::mutex making_mutex;
    std::map<std::string, std::shared_ptr<MadeObject>> making;
    std::set<std::string> new_folders;

private:
    Result<> check_object(const std::string& key, const HttpAnswer& answer) const;
    Result<> check_range(const std::string& key, const HttpAnswer& answer, std::uint64_t begin) const;
    Result<> check_bytes(const std::string& key, const HttpAnswer& answer) const;
    Result<std::optional<ObjectInfo>> try_read_first(const std::string& key, bool is_small, std::string& first,
                                                     bool& is_larger);
    Result<HttpAnswer> send_bytes(S3Request request);

    S3Client client_;
    /// True if the server does not check CRC32C. It then also gets the MD5 of all bytes, because every server checks
    /// MD5.
    std::atomic<bool> wants_md5_{false};
};

}  // namespace forebay::s3

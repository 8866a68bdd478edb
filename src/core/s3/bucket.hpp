// What is asked of a bucket: objects are looked at, read, put, copied and removed.
//
// Threads: any, at once.

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
    static constexpr std::size_t keys_max = 1'000;  // of one request that removes
    /// What comes with an object that is opened: of many small ones all, so that each costs one request.
    static constexpr std::uint64_t first_bytes_max = 1u << 20;
    static constexpr std::uint64_t parts_max = 10'000;  // of an upload

    Bucket(S3Settings settings, std::string name, sys::NewEntryOwner new_owner, HttpLimits limits = {})
        : owner(new_owner), client_(std::move(settings), std::move(name), limits) {}

    /// Nothing where there is no such object.
    Result<std::optional<ObjectInfo>> look(const std::string& key);
    /// The same with its first bytes, at most `first_bytes_max`; all of them are compared with the checksum that the
    /// server keeps. `is_small`: it has no more, as far as is known; servers tell checksums of whole objects.
    Result<std::optional<ObjectInfo>> read_first(const std::string& key, bool is_small, std::string& first);
    /// Bytes of this version of an object. False where it is another one now.
    using Take = std::function<Result<>(std::uint64_t offset, std::span<const std::byte>)>;
    Result<bool> read(const ObjectInfo& object, sys::ByteStretch bytes, const Take& take);
    /// A small object; `missing` where there is none.
    Result<std::string> text_of(const std::string& key);
    /// The same with its version; nothing where there is none.
    struct Text {
        std::string text, etag;
    };
    Result<std::optional<Text>> find_text(const std::string& key);

    struct Page {
        std::string prefix, from;
        std::uint32_t names_max = 1000;
        bool is_deep = false;  // all keys, and not only the first parts of those with a further slash
    };
    /// One page, of which every key begins so. All of them: KeyPages.
    Result<KeyPage> list(const Page& page);
    /// Whether anything has a key that begins so.
    Result<bool> has_prefix(const std::string& prefix);

    Result<> put(const std::string& key, const ObjectState& state, std::span<const std::byte> bytes);
    Result<> put_text(const std::string& key, const std::string& text);
    /// Puts it only where the key has the version `etag`, or with an empty one, where there is none. The new version;
    /// nothing where it is another one now.
    Result<std::optional<std::string>> put_text_over(const std::string& key, const std::string& text,
                                                     const std::string& etag);
    /// Puts an object's bytes and the metadata of `object` under a key, its own among them. `missing` where it is gone.
    Result<> copy(const ObjectInfo& object, const std::string& key);
    Result<> remove(const std::string& key);
    /// By one request for 1,000 keys. An error where it is not told which of them stayed.
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
    /// `missing` where nobody knows the upload any more.
    Result<std::vector<UploadedPart>> parts_of(const Upload& upload);
    Result<> end_upload(const Upload& upload, const std::vector<Part>& parts);
    Result<> give_up_upload(const Upload& upload);
    /// Uploads under way of keys that begin so.
    Result<std::vector<Upload>> uploads_of(const std::string& prefix);

    /// Of bytes that came, and have another checksum than the server keeps.
    Error other_than_kept(const ObjectInfo& object, std::uint32_t crc) const;

    std::uint64_t number() const { return client_.number(); }
    const std::string& name() const { return client_.bucket(); }

    const sys::NewEntryOwner owner;
    PartMemory part_memory;  // outlives what is being made

    /// Entries that this process is making, under the keys of their temporary names; and folders of which no object
    /// says anything yet.
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
    /// The server does not check CRC32C: it gets the MD5 of all bytes, which every server checks.
    std::atomic<bool> wants_md5_{false};
};

}  // namespace forebay::s3

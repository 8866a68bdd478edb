// An object that is written like a file: at any offset, in any order, by several threads, up to an unknown end. Each
// thread that completes a part sends it. An object smaller than a part is put by one request. The key appears with
// publish().
//
// The first 1,000 parts have 16 MiB, the next 1,000 have twice the size, and so on. So the 10,000 parts that S3 allows
// are enough for 16 TiB.

#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/s3/bucket.hpp"

namespace forebay::s3 {

class ObjectParts {
public:
    /// `key` is the final key. The first part that is sent aborts unfinished uploads of others for this key.
    ObjectParts(Bucket& bucket, std::string key);
    ~ObjectParts();

    /// Begins with the bytes of an existing object, and holds everything in memory until publish().
    Result<> load(const ObjectInfo& object);
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes);
    /// This stretch will never be written: the part counts as complete without these bytes, and they are sent as zeros.
    void leave_zeros(std::uint64_t offset, std::uint64_t bytes);
    /// Reads bytes that are not sent yet. `unsupported` for sent bytes.
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes);
    std::uint64_t size();
    Result<> resize(std::uint64_t bytes);
    /// Gives the object its key. Bytes that were not written are zeros. Does nothing if nothing changed since the last
    /// call.
    Result<> publish();
    /// The same under another key. Only for objects of at most one part.
    Result<> publish_as(const std::string& key);
    void give_up();

private:
    struct Place {
        std::uint64_t index = 0, begin = 0, bytes = 0;  // of a part
    };
    struct Part {
        Place place;
        PartMemory::Taken bytes;                // empty before the first byte and after sending
        std::vector<sys::ByteStretch> written;  // relative to the part's beginning
        bool is_sent = false;
        Bucket::Part sent;
    };
    static Place place_of(std::uint64_t offset);
    Result<std::byte*> memory_at(const Place& place);
    Result<> wrote(const Place& place, sys::ByteStretch stretch);
    bool is_whole(const Part& part) const;
    Result<> send(Part& part, std::uint64_t bytes);
    Result<> ensure_upload();
    Result<> put_whole(const std::string& key);
    Result<> end_upload();

    Bucket& bucket_;
    std::mutex upload_mutex_;  // one thread begins the upload
    Bucket::Upload upload_;
    std::mutex mutex_;  // guards the members below
    std::map<std::uint64_t, Part> parts_;
    std::vector<sys::ByteStretch> zeros_;  // in order; no two touch
    std::uint64_t bytes_ = 0;
    bool is_changed_ = true, is_over_ = false, is_held_ = false;
};

}  // namespace forebay::s3

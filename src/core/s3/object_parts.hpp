// An object that is written as a file is: at any offsets, in any order, by several threads, to an end that is not known
// before. It is held in parts, of which those that are whole are sent by the threads that fill them; what is smaller
// than a part is put by one request. Under its key nothing shows before publish().
//
// Parts are of 16 MiB; the thousand after a thousand are of twice the size, so that the 10,000 parts that S3 allows are
// enough for 16 TiB.

#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/s3/bucket.hpp"

namespace forebay::s3 {

class ObjectParts {
public:
    /// `key`: under which it will be published. Uploads of it that others have left are given up when one begins.
    ObjectParts(Bucket& bucket, std::string key);
    ~ObjectParts();

    /// Begins with what an object has, and holds all in memory until it is published.
    Result<> load(const ObjectInfo& object);
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes);
    /// Nobody will write there: a part is whole without these bytes, which are sent as zeros.
    void leave_zeros(std::uint64_t offset, std::uint64_t bytes);
    /// Of what is not sent yet; `unsupported` for the rest.
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes);
    std::uint64_t size();
    Result<> resize(std::uint64_t bytes);
    /// What was not written is zeros. Without a change since the last time nothing is done.
    Result<> publish();
    /// The same under another key than the one that was told, as long as nothing was sent.
    Result<> publish_as(const std::string& key);
    void give_up();

private:
    struct Place {
        std::uint64_t index = 0, begin = 0, bytes = 0;  // of a part
    };
    struct Part {
        Place place;
        PartMemory::Taken bytes;                // none before the first of them comes, and after they are sent
        std::vector<sys::ByteStretch> written;  // from the part's beginning on
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
    std::mutex mutex_;  // guards what follows
    std::map<std::uint64_t, Part> parts_;
    std::vector<sys::ByteStretch> zeros_;  // in order, none touches another
    std::uint64_t bytes_ = 0;
    bool is_changed_ = true, is_over_ = false, is_held_ = false;
};

}  // namespace forebay::s3

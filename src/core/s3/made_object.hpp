// An object that is being made: first its attributes, then its bytes, then its key. A small object stays in memory and
// is put by one request. A large object is sent in parts by the threads that fill them. The key appears when the upload
// ends.
//
// Beside a large object lies a mark, TEMPORARY.parts. It holds the upload's id and the state of the source, so that a
// later run can resume the upload or abort it. Format: docs/formats/s3.md.
//
// Threads: several may write different parts at once.

#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/s3/bucket.hpp"

namespace forebay::s3 {

/// The part size that keeps an upload of `bytes` within 10,000 parts.
std::uint64_t part_bytes_of(std::uint64_t bytes);
inline constexpr const char* mark_ending = ".parts";

class MadeObject {
public:
    MadeObject(Bucket& bucket, std::string temporary_key, ObjectState first_state);
    /// Joins the upload of another process by the mark beside the key. Parts can be sent after begin() gets the size.
    /// `missing` if there is no mark.
    static Result<std::shared_ptr<MadeObject>> join(Bucket& bucket, const std::string& temporary_key);

    sys::EntryStatus status();
    Result<> begin(const std::string& final_key, const sys::EntryStatus& source);
    std::uint64_t present_bytes();
    /// Returns how many bytes from `offset` on lie in the same sent part.
    std::uint64_t held_at(std::uint64_t offset);
    Result<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> bytes);
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes);
    /// Copies from `source` into a part, at most up to the part's end.
    Result<std::uint64_t> copy_from(sys::OpenFile& source, std::uint64_t offset, std::uint64_t bytes);
    Result<> resize(std::uint64_t bytes);
    /// Returns a line for each sent part. `unsupported` if a part is only half filled.
    Result<std::string> sent_parts();
    Result<> take_sent(const std::string& lines);
    /// The CRC32C of all bytes.
    std::uint32_t checksum();
    /// Gives the object its key. Call it when all bytes are there.
    Result<> publish(const std::string& final_key);
    void give_up();
    /// Returns true if the object is a mark and does not only have such a name.
    static Result<bool> is_mark(Bucket& bucket, const std::string& key);
    /// Removes a killed run's mark and aborts its upload. If the object is not a mark, only the object is removed.
    static Result<> remove_mark(Bucket& bucket, const std::string& mark_key);

    std::mutex mutex;  // guards the members below
    ObjectInfo info;

private:
    struct Piece {
        PartMemory::Taken bytes;  // empty before the first byte and after sending
        std::uint64_t filled = 0;
        bool is_sent = false;
        Bucket::Part sent;
        std::uint32_t crc32c = 0;
    };

    std::span<const std::byte> all_of(std::uint64_t index) const {
        return {pieces_[index].bytes.get(), length_of(index)};
    }
    bool is_in_parts() const { return info.bytes > part_bytes_; }
    std::uint64_t length_of(std::uint64_t index) const;
    Result<Piece*> piece_at(std::uint64_t offset, std::uint64_t bytes);
    Result<> filled(std::uint64_t index, std::uint64_t bytes);
    Result<> begin_upload();
    Result<> go_on(const std::string& identity);
    Result<> end_upload(const std::string& final_key);

    Bucket& bucket_;
    std::uint64_t part_bytes_ = part_bytes_least;
    std::vector<Piece> pieces_;
    Bucket::Upload upload_;
    std::string identity_;
    bool was_resumed_ = false, is_joined_ = false;
};

}  // namespace forebay::s3

// An object in the making: attributes first, then bytes, then its key. What is small is held until then and put by one
// request; of what is large the parts are sent as they fill, by the threads that bring them, and nothing shows under
// the key before the upload is ended.
//
// Beside a large one lies a mark, TEMPORARY.parts: an object that names the upload and the state of the source, so that
// a later run goes on with the parts that are there, or gives the upload up. docs/formats/s3.md.
//
// Threads: several may bring bytes of different parts at once.

#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/s3/bucket.hpp"

namespace forebay::s3 {

/// Parts of one upload are 10,000 at most.
std::uint64_t part_bytes_of(std::uint64_t bytes);
inline constexpr const char* mark_ending = ".parts";

class MadeObject {
public:
    MadeObject(Bucket& bucket, std::string temporary_key, ObjectState first_state);
    /// Of another process, whose mark lies beside the key: its upload gets parts from here, once begin() has told how
    /// many bytes the object has. `missing` where there is no mark.
    static Result<std::shared_ptr<MadeObject>> join(Bucket& bucket, const std::string& temporary_key);

    sys::EntryStatus status();
    Result<> begin(const std::string& final_key, const sys::EntryStatus& source);
    std::uint64_t present_bytes();
    /// How many bytes at `offset` and behind it are in a part that was sent.
    std::uint64_t held_at(std::uint64_t offset);
    Result<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> bytes);
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes);
    /// From `source` into a part; at most up to the part's end.
    Result<std::uint64_t> copy_from(sys::OpenFile& source, std::uint64_t offset, std::uint64_t bytes);
    Result<> resize(std::uint64_t bytes);
    /// A line for each part that was sent; an error where some was only filled in part.
    Result<std::string> sent_parts();
    Result<> take_sent(const std::string& lines);
    /// Of all bytes, as the server has them or will get them.
    std::uint32_t checksum();
    /// All is there: it gets its key.
    Result<> publish(const std::string& final_key);
    void give_up();
    /// Whether the object of this key is a mark, not only called like one.
    static Result<bool> is_mark(Bucket& bucket, const std::string& key);
    /// A killed run's mark goes, and its upload with it; an object that is none goes alone.
    static Result<> remove_mark(Bucket& bucket, const std::string& mark_key);

    std::mutex mutex;  // guards `info`, and all below
    ObjectInfo info;

private:
    struct Piece {
        PartMemory::Taken bytes;  // none before the first of them comes, and after they are sent
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

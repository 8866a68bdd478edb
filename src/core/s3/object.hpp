// An object as an entry of a tree: what it has beside its bytes, and the metadata that keep that. docs/formats/s3.md.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/s3/http.hpp"
#include "core/sys/tree.hpp"

namespace forebay::s3 {

struct ObjectState {
    sys::EntryKind kind = sys::EntryKind::file;
    std::uint32_t permissions = 0;
    std::uint32_t user = 0, group = 0;
    std::uint64_t device_number = 0;
    sys::FileTime accessed, modified;
    bool has_times = true;  // a folder without an object of its own has none
    std::string link_text;
    std::map<std::string, std::string> attributes;  // extended ones
    /// Where the bytes are that are no hole; none: the file has no holes that are known.
    std::optional<std::vector<sys::ByteStretch>> data;

    bool operator==(const ObjectState& other) const { return headers() == other.headers(); }
    /// "x-amz-meta-mode" and so on, in lower case.
    Pairs headers() const;
    /// `unsupported` where the metadata would be larger than S3 takes.
    Result<> check_size() const;
};

/// Of a new one, whose times are now.
ObjectState new_state(sys::EntryKind kind, std::uint32_t permissions, const sys::NewEntryOwner& owner);

/// An object that is there.
struct ObjectInfo {
    std::string key;
    ObjectState state;
    std::uint64_t bytes = 0;  // a folder has none, unless others have put an object of this key
    std::string etag;
    sys::FileTime changed;                // when it was put there; its nanoseconds tell one version from another
    std::optional<std::uint32_t> crc32c;  // of all bytes, where the server knows it
};

/// From the headers of an answer. What others have not said of their objects is as a new entry of `owner` would have
/// it; a key with a "/" at its end is a folder.
ObjectInfo object_from(const std::string& key, const HttpAnswer& answer, const sys::NewEntryOwner& owner);

/// The status that entries of trees have.
sys::EntryStatus status_of(const ObjectInfo& object, std::uint64_t device);
std::uint64_t number_of_key(const std::string& key);

/// "1700000000.000000001", before 1970 "-0.5".
std::string time_text(sys::FileTime time);
std::optional<sys::FileTime> time_from(std::string_view text);
/// A checksum as headers have it: four bytes, the highest first, in base64.
std::string checksum_text(std::uint32_t crc32c);
std::optional<std::uint32_t> checksum_from(std::string_view text);

}  // namespace forebay::s3

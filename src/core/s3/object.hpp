// An object as an entry of a tree: its attributes, and the metadata that store them. Format: docs/formats/s3.md.

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
    bool has_times = true;  // false for a directory without its own object
    std::string link_text;
    std::map<std::string, std::string> attributes;  // extended attributes
    /// The stretches that are not holes. Nothing: no holes are known.
    std::optional<std::vector<sys::ByteStretch>> data;

    bool operator==(const ObjectState& other) const { return headers() == other.headers(); }
    /// The headers "x-amz-meta-mode" and so on, in lower case.
    Pairs headers() const;
    /// `unsupported` if the metadata are larger than S3 allows.
    Result<> check_size() const;
};

/// The state of a new entry, with the current time.
ObjectState new_state(sys::EntryKind kind, std::uint32_t permissions, const sys::NewEntryOwner& owner);

/// An object that exists.
struct ObjectInfo {
    std::string key;
    ObjectState state;
    std::uint64_t bytes = 0;  // 0 for a directory, unless another tool put bytes there
    std::string etag;
    sys::FileTime changed;                // when it was put; the nanoseconds are a hash of the version
    std::optional<std::uint32_t> crc32c;  // of all bytes, if the server knows it
};

/// Reads the headers of an answer. Missing attributes get the values of a new entry of `owner`. A key that ends with
/// "/" is a directory.
ObjectInfo object_from(const std::string& key, const HttpAnswer& answer, const sys::NewEntryOwner& owner);

/// Converts to the status of a tree entry.
sys::EntryStatus status_of(const ObjectInfo& object, std::uint64_t device);
std::uint64_t number_of_key(const std::string& key);

/// For example "1700000000.000000001", and "-0.5" before 1970.
std::string time_text(sys::FileTime time);
std::optional<sys::FileTime> time_from(std::string_view text);
/// A checksum as in headers: four bytes, highest first, in base64.
std::string checksum_text(std::uint32_t crc32c);
std::optional<std::uint32_t> checksum_from(std::string_view text);

}  // namespace forebay::s3

// Names of entries as parts of keys. A name is any bytes; a key is UTF-8 that every tool may print. What is no UTF-8,
// or a control character, is written %XX, and so is a "%" that would be read as one: docs/formats/s3.md.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::s3 {

/// Where a tree lies: "s3://bucket/a/b" has the prefix "a/b/", the bucket itself "".
struct S3Place {
    std::string bucket;
    std::string prefix;  // of keys, with a "/" at its end
};

/// `refused` for names that no bucket has, and for parts of the prefix that are empty, "." or "..".
Result<S3Place> place_from(std::string_view address);

/// The part of a key that stands for a name; names without odd bytes stand for themselves.
std::string key_part_of(std::string_view name);
/// The name that key_part_of() makes `part` of; none where there is no such name, as of keys that others made.
std::optional<std::string> name_of_key_part(std::string_view part);

/// The object that has the attributes of a folder: its prefix, "a/b/"; of a whole bucket "%2E/", since no entry has the
/// name ".".
std::string folder_key(const std::string& prefix);

/// For URLs and signatures: all but letters, digits and -._~ becomes %XX; a "/" stays where that is wished.
std::string url_encoded(std::string_view text, bool keeps_slash);
/// The same backwards; a "+" is a space, as servers write it.
std::string url_decoded(std::string_view text);

/// Text of one line without blanks, for a header: other bytes and those of `reserved` become %XX.
std::string header_encoded(std::string_view text, std::string_view reserved = "");
std::string header_decoded(std::string_view text);

}  // namespace forebay::s3

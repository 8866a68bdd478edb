// Entry names as parts of keys. A name is any bytes. A key is UTF-8 that every tool can print. Bytes outside UTF-8 and
// control characters become %XX, and so does a "%" that would look like such a code. Format: docs/formats/s3.md.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::s3 {

/// The place of a tree: "s3://bucket/a/b" has the prefix "a/b/". The bucket itself has "".
struct S3Place {
    std::string bucket;
    std::string prefix;  // of keys; ends with "/" or is empty
};

/// `refused` for impossible bucket names, and for parts of the prefix that are empty, "." or "..".
Result<S3Place> place_from(std::string_view address);

/// Returns the key part of a name. Names without odd bytes stay as they are.
std::string key_part_of(std::string_view name);
/// Returns the name with this key part, or nothing if no name has it, for example for keys from other tools.
std::optional<std::string> name_of_key_part(std::string_view part);

/// Returns the key of the object with a directory's attributes: its prefix, "a/b/". For a whole bucket it is "%2E/",
/// because no entry is called ".".
std::string folder_key(const std::string& prefix);

/// For URLs and signatures: every byte except letters, digits and -._~ becomes %XX. `keeps_slash` keeps "/".
std::string url_encoded(std::string_view text, bool keeps_slash);
/// The inverse. It also turns "+" into a space, because servers write spaces so.
std::string url_decoded(std::string_view text);

/// For header values: blanks, unprintable bytes, "%" and the bytes of `reserved` become %XX.
std::string header_encoded(std::string_view text, std::string_view reserved = "");
std::string header_decoded(std::string_view text);

}  // namespace forebay::s3

// Decodes the XML answers of servers and checks every field: any program may have written them.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::s3 {

struct ListedObject {
    std::string key;
    std::uint64_t bytes = 0;
};

struct KeyPage {
    std::vector<ListedObject> objects;
    std::vector<std::string> prefixes;  // keys up to and including the next "/"
    bool is_truncated = false;
    std::string next;  // the token of the next page
};
Result<KeyPage> listing_from(std::string_view xml);

/// For example "NoSuchKey" and its text. Both are empty if the body is not an S3 error.
struct ServerError {
    std::string code, message;
    std::string region, endpoint;  // set if the bucket lies elsewhere
};
ServerError server_error_from(std::string_view xml);

Result<std::string> upload_id_from(std::string_view xml);

struct UploadedPart {
    std::uint64_t number = 0, bytes = 0;
    std::string etag;
    std::string crc32c;  // in base64; empty if the server does not know it
};
struct UploadedParts {
    std::vector<UploadedPart> parts;
    bool is_truncated = false;
    std::uint64_t next = 0;
};
Result<UploadedParts> parts_from(std::string_view xml);

struct UploadPage {
    struct OfKey {
        std::string key, id;
    };
    std::vector<OfKey> uploads;
    bool is_truncated = false;
    std::string next_key, next_id;  // the markers of the next page
};
Result<UploadPage> uploads_from(std::string_view xml);

/// Decodes the answer to a copy or to the end of an upload. It may be an error although its status is 200.
struct Completed {
    std::string etag, crc32c;
};
Result<Completed> completed_from(std::string_view xml);

/// A key that a multi-object removal did not remove, and the reason.
struct NotRemoved {
    std::string key, code, message;
};
Result<std::vector<NotRemoved>> not_removed_from(std::string_view xml);

}  // namespace forebay::s3

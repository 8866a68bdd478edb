// What servers answer, as XML: decoded with every field checked. Others may have written it.

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
    std::vector<std::string> prefixes;  // what goes on behind the next "/"
    bool is_truncated = false;
    std::string next;  // where the next page begins
};
Result<KeyPage> listing_from(std::string_view xml);

/// "NoSuchKey" and its text; both empty where the body is no error of S3.
struct ServerError {
    std::string code, message;
    std::string region, endpoint;  // of a bucket that lies elsewhere
};
ServerError server_error_from(std::string_view xml);

Result<std::string> upload_id_from(std::string_view xml);

struct UploadedPart {
    std::uint64_t number = 0, bytes = 0;
    std::string etag;
    std::string crc32c;  // in base64; empty where the server does not know it
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
    std::string next_key, next_id;  // where the next page begins
};
Result<UploadPage> uploads_from(std::string_view xml);

/// Of an answer that may be an error although its status is 200: a copy, or the end of an upload.
struct Completed {
    std::string etag, crc32c;
};
Result<Completed> completed_from(std::string_view xml);

/// Of a removal of many: the keys that stayed, and why.
struct NotRemoved {
    std::string key, code, message;
};
Result<std::vector<NotRemoved>> not_removed_from(std::string_view xml);

}  // namespace forebay::s3

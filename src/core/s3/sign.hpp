// AWS Signature Version 4 of one request, by headers. Nothing of a key is kept beyond the call.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forebay::s3 {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// What signs requests. Never in a text that people, logs or other programs see.
struct Credentials {
    std::string access_key, secret_key, session_token;
    friend bool operator==(const Credentials&, const Credentials&) = default;
};

struct ToSign {
    std::string method;
    std::string path;  // as in the URL, encoded
    Pairs query;       // not encoded
    Pairs headers;     // lower-case names; "host", "x-amz-date" and "x-amz-content-sha256" are among them
    std::string region;
    std::string service = "s3";
};

/// "a=1&b=": sorted and encoded, as it is both signed and sent.
std::string query_text(Pairs query);

/// The value of the header Authorization. `time` is that of x-amz-date: "20130524T000000Z".
std::string authorization_of(const ToSign& request, const Credentials& credentials, std::string_view time);

std::string sha256_hex(std::span<const std::byte> bytes);
std::string md5_base64(std::span<const std::byte> bytes);
std::string base64_of(std::string_view bytes);
/// Nothing where it is no base64.
bool from_base64(std::string_view text, std::string& bytes);

}  // namespace forebay::s3

// AWS Signature Version 4 of one request, in headers. Keeps no key after the call.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forebay::s3 {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// The keys that sign requests. Never put them in a text for people, logs or other programs.
struct Credentials {
    std::string access_key, secret_key, session_token;
    friend bool operator==(const Credentials&, const Credentials&) = default;
};

struct ToSign {
    std::string method;
    std::string path;  // encoded, as in the URL
    Pairs query;       // not encoded
    Pairs headers;     // lower-case names, with "host", "x-amz-date" and "x-amz-content-sha256"
    std::string region;
    std::string service = "s3";
};

/// For example "a=1&b=": sorted and encoded, for the signature and for the URL.
std::string query_text(Pairs query);

/// Returns the value of the header Authorization. `time` is the value of x-amz-date: "20130524T000000Z".
std::string authorization_of(const ToSign& request, const Credentials& credentials, std::string_view time);

std::string sha256_hex(std::span<const std::byte> bytes);
std::string md5_base64(std::span<const std::byte> bytes);
std::string base64_of(std::string_view bytes);
/// Returns false if the text is not base64.
bool from_base64(std::string_view text, std::string& bytes);

}  // namespace forebay::s3

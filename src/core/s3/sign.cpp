#include "core/s3/sign.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

#include "core/s3/key.hpp"

namespace forebay::s3 {

namespace {

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

std::string digest_of(const EVP_MD* kind, std::span<const std::byte> bytes) {
    Digest digest{};
    unsigned size = 0;
    EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, kind, nullptr);
    return {digest.begin(), digest.begin() + size};
}

std::string hmac(const std::string& key, const std::string& text) {
    Digest digest{};
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
         text.size(), digest.data(), &size);
    return {digest.begin(), digest.begin() + size};
}

std::string hex_of_bytes(const std::string& bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char character : bytes) {
        const auto byte = static_cast<unsigned char>(character);
        text += digits[byte >> 4];
        text += digits[byte & 15u];
    }
    return text;
}

std::string value_of(const Pairs& headers, std::string_view name) {
    const auto header = std::ranges::find(headers, name, &Pairs::value_type::first);
    return header == headers.end() ? "" : header->second;
}

}  // namespace

std::string query_text(Pairs query) {
    for (auto& [name, value] : query) {
        name = url_encoded(name, false);
        value = url_encoded(value, false);
    }
    std::ranges::sort(query);
    std::string text;
    for (const auto& [name, value] : query) text += (text.empty() ? "" : "&") + name + "=" + value;
    return text;
}

std::string authorization_of(const ToSign& request, const Credentials& credentials, std::string_view time) {
    auto headers = request.headers;
    // The canonical request has its headers in order.
    std::ranges::sort(headers);
    std::string canonical = request.method + "\n" + request.path + "\n" + query_text(request.query) + "\n", names;
    for (const auto& [name, value] : headers) {
        canonical += name + ":" + value + "\n";
        names += (names.empty() ? "" : ";") + name;
    }
    canonical += "\n" + names + "\n" + value_of(headers, "x-amz-content-sha256");

    const std::string day(time.substr(0, 8));
    const auto scope = day + "/" + request.region + "/" + request.service + "/aws4_request";
    const auto text = "AWS4-HMAC-SHA256\n" + std::string(time) + "\n" + scope + "\n" +
                      sha256_hex(std::as_bytes(std::span(canonical)));
    // The signing key is a chain of HMACs: secret, day, region, service, "aws4_request".
    auto key = hmac("AWS4" + credentials.secret_key, day);
    for (const auto& part : {request.region, request.service, std::string("aws4_request")}) key = hmac(key, part);
    return "AWS4-HMAC-SHA256 Credential=" + credentials.access_key + "/" + scope + ",SignedHeaders=" + names +
           ",Signature=" + hex_of_bytes(hmac(key, text));
}

std::string sha256_hex(std::span<const std::byte> bytes) { return hex_of_bytes(digest_of(EVP_sha256(), bytes)); }

std::string md5_base64(std::span<const std::byte> bytes) { return base64_of(digest_of(EVP_md5(), bytes)); }

std::string base64_of(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const int size =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                        reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

bool from_base64(std::string_view text, std::string& bytes) {
    if (text.size() % 4 != 0) return false;
    bytes.assign(text.size() / 4 * 3, '\0');
    if (text.empty()) return true;
    const int size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
    if (size < 0) return false;
    // The decoder counts padding as bytes.
    const auto padding = text.ends_with("==") ? 2u : text.ends_with('=') ? 1u : 0u;
    bytes.resize(static_cast<std::size_t>(size) - padding);
    return true;
}

}  // namespace forebay::s3

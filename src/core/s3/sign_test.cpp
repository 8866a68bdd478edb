// Goal: signatures equal the examples that AWS publishes for a public test key. Checksums equal published values.
// Method: "Signature Calculations for the Authorization Header" in the S3 API reference, and RFC 4648.

#include "core/s3/sign.hpp"

#include <doctest/doctest.h>

#include "core/base/crc32c.hpp"
#include "core/s3/object.hpp"

using namespace forebay;
using namespace forebay::s3;

namespace {

const Credentials nobody{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
constexpr const char* time_of_examples = "20130524T000000Z";
const std::string empty_hash = sha256_hex({});

std::string signature_of(const ToSign& request) {
    const auto text = authorization_of(request, nobody, time_of_examples);
    return text.substr(text.rfind('=') + 1);
}

ToSign example(const char* path, Pairs query, Pairs headers, const std::string& payload = empty_hash) {
    headers.insert(headers.end(), {{"host", "examplebucket.s3.amazonaws.com"},
                                   {"x-amz-content-sha256", payload},
                                   {"x-amz-date", time_of_examples}});
    return {
        .method = "GET", .path = path, .query = std::move(query), .headers = std::move(headers), .region = "us-east-1"};
}

}  // namespace

TEST_CASE("s3: the published examples of signatures") {
    CHECK(empty_hash == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(signature_of(example("/test.txt", {}, {{"range", "bytes=0-9"}})) ==
          "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    CHECK(signature_of(example("/", {{"lifecycle", ""}}, {})) ==
          "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    CHECK(signature_of(example("/", {{"prefix", "J"}, {"max-keys", "2"}}, {})) ==
          "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
    auto put = example("/test%24file.text", {},
                       {{"date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                       "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
    put.method = "PUT";
    CHECK(signature_of(put) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    const auto text = authorization_of(put, nobody, time_of_examples);
    CHECK(text.find(nobody.secret_key) == text.npos);
}

TEST_CASE("s3: queries are sorted, encoded, and have their equals signs") {
    CHECK(query_text({{"uploads", ""}}) == "uploads=");
    CHECK(query_text({{"uploadId", "a+b/c"}, {"partNumber", "7"}}) == "partNumber=7&uploadId=a%2Bb%2Fc");
}

TEST_CASE("s3: base64 and digests") {
    std::string bytes;
    for (const auto& [plain, text] :
         Pairs{{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}}) {
        CHECK(base64_of(plain) == text);
        REQUIRE(from_base64(text, bytes));
        CHECK(bytes == plain);
    }
    for (const std::string text : {"Z", "Zg", "Zg=", "Z!==", "Zm9v\n"}) CHECK_FALSE(from_base64(text, bytes));
    CHECK(md5_base64({}) == "1B2M2Y8AsgTpgAmY7PhCfg==");
}

TEST_CASE("s3: checksums read as headers have them") {
    const std::string digits = "123456789";
    CHECK(crc32c(std::as_bytes(std::span(digits))) == 0xe3069283);
    CHECK(checksum_text(0xe3069283) == "4waSgw==");
    CHECK(checksum_from("4waSgw==") == 0xe3069283);
    CHECK_FALSE(checksum_from("4waSgw"));
    CHECK_FALSE(checksum_from(""));
}

// Goal: every name has one key, and every key of ours has its name. Impossible addresses are refused.
// Method: names of all bytes, keys that other tools could have made, and addresses.

#include "core/s3/key.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace forebay;
using namespace forebay::s3;

TEST_CASE("s3: names come back from their keys, and no two have the same") {
    std::vector<std::string> names{"plain", "with blank", "ä",        "日本",   "new\nline", "\x7f", "100%",
                                   "%41",   "%0A",        "%25",      "%%0A",   "%4",        "%",    "%%",
                                   "a+b",   "%FF",        "\xff\xfe", "%4\xff", "~"};
    for (int byte = 1; byte < 256; ++byte)
        if (byte != '/') names.push_back(std::string("x") + static_cast<char>(byte) + "%");
    std::map<std::string, std::string> known;
    for (const auto& name : names) {
        CAPTURE(name);
        const auto part = key_part_of(name);
        CHECK(name_of_key_part(part) == name);
        CHECK(known.emplace(part, name).second);
        for (const char letter : part) CHECK((static_cast<unsigned char>(letter) >= 0x20 && letter != 0x7f));
    }
    CHECK(key_part_of("ä b") == "ä b");
    CHECK(key_part_of("\n") == "%0A");
    CHECK(key_part_of("%0A") == "%250A");
    CHECK(key_part_of("\xff") == "%FF");
}

TEST_CASE("s3: keys of others are names as they are, or none") {
    for (const std::string part : {"%41", "a%20b", "%", "%zz", "%2F", "%00", "a%0a"})
        CHECK(name_of_key_part(part) == part);
    // These are not the keys of their names: "ä" has the key "ä", not "%C3%A4".
    for (const std::string part : {"", ".", "..", "%C3%A4"}) CHECK_FALSE(name_of_key_part(part));
    CHECK_FALSE(name_of_key_part("a\nb"));
    CHECK_FALSE(name_of_key_part("a\xff"));
}

TEST_CASE("s3: addresses") {
    CHECK(place_from("s3://bucket").value().prefix.empty());
    CHECK(place_from("s3://bucket/").value().prefix.empty());
    const auto place = place_from("s3://my.bucket-1/a/b c//").value();
    CHECK(place.bucket == "my.bucket-1");
    CHECK(place.prefix == "a/b c/");
    for (const std::string address :
         {"", "/a", "s3:/a", "s3://", "s3://ab", "s3:///x", "s3://buck et/x", "s3://bucket/a//b", "s3://bucket/./b",
          "s3://bucket/a/..", "s3://user:key@host/x", "http://bucket/x"})
        CHECK(place_from(address).error().kind == ErrorKind::refused);
    CHECK(folder_key("") == "%2E/");
    CHECK(folder_key("a/") == "a/");
}

TEST_CASE("s3: text of URLs and headers comes back") {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    CHECK(url_decoded(url_encoded(all, false)) == all);
    CHECK(header_decoded(header_encoded(all, ",:")) == all);
    CHECK(header_encoded("a:b c,%", ",:") == "a%3Ab%20c%2C%25");
    CHECK(url_encoded("a/b c", true) == "a/b%20c");
    CHECK(url_encoded("a/b", false) == "a%2Fb");
    CHECK(url_decoded("a+b%2Bc%2b%") == "a b+c+%");
}

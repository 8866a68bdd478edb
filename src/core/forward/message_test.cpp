// Goal: each side understands the messages of the other. Damaged messages, other versions, too long messages and paths
// outside the run are refused.
// Method: messages of every kind there and back; each bit of a header inverted; wrong lengths and counts.

#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/forward/limits.hpp"
#include "core/forward/message.hpp"

using namespace forebay;
using namespace forebay::forward;

TEST_CASE("a header comes back as it was, and no changed bit of it is accepted") {
    const auto bytes = encode(FrameHeader{.kind = FrameKind::write, .body_bytes = 77, .body_crc = 0xCAFEBABE});
    const auto header = decode_header(bytes);
    REQUIRE(header);
    CHECK(header->kind == FrameKind::write);
    CHECK(header->body_bytes == 77);
    CHECK(header->body_crc == 0xCAFEBABE);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        auto changed = bytes;
        changed[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
        CAPTURE(bit);
        CHECK_FALSE(decode_header(changed));
    }
    CHECK_FALSE(decode_header(std::span(bytes).first(header_bytes - 1)));
}

TEST_CASE("a header of another version says so, one that is too long is refused") {
    auto newer = encode(FrameHeader{.kind = FrameKind::list});
    newer[7] = std::byte{'5'};
    store_le(newer.data() + 28, crc32c(std::span(newer).first(28)));
    CHECK(decode_header(newer).error().kind == ErrorKind::unsupported);
    CHECK(decode_header(encode(FrameHeader{.kind = FrameKind::list, .body_bytes = limits::request_bytes_max})));
    CHECK_FALSE(
        decode_header(encode(FrameHeader{.kind = FrameKind::list, .body_bytes = limits::request_bytes_max + 1})));
    CHECK_FALSE(
        decode_header(encode(FrameHeader{.kind = FrameKind::answer, .body_bytes = limits::answer_bytes_max + 1})));
    CHECK_FALSE(decode_header(encode(FrameHeader{.kind = FrameKind::beat, .body_bytes = 1})));
    CHECK_FALSE(decode_header(encode(FrameHeader{.kind = static_cast<FrameKind>(0)})));
    CHECK_FALSE(decode_header(encode(FrameHeader{.kind = static_cast<FrameKind>(99)})));
}

TEST_CASE("requests and answers come back as they were") {
    const Request request{.file = 1ull << 60,
                          .offset = 4096,
                          .number = limits::piece_bytes,
                          .crc = 12345,
                          .access = sys::Access::create_direct,
                          .path = "/scratch/run/restart/.step-000120.1f.part/node-00000.h5.tmp",
                          .other = "/scratch/run/x"};
    CHECK(decode_request(encode(request)).value() == request);
    const Answer answer{.error = Error{ErrorKind::full, "pwrite: /scratch/x: No space left on device"},
                        .number = 3,
                        .word = 4,
                        .crc = 5,
                        .entries = {{"a", true, 0}, {"b", false, 17}, {"c", true, 0, true}, {"d", false, 7, true}}};
    const auto back = decode_answer(encode(answer)).value();
    REQUIRE(back.error);
    CHECK(back.error->kind == ErrorKind::full);
    CHECK(back.error->text() == answer.error->text());
    CHECK(back.number == 3);
    CHECK(back.word == 4);
    CHECK(back.crc == 5);
    REQUIRE(back.entries.size() == 4);
    CHECK(back.entries[0].is_directory);
    CHECK_FALSE(back.entries[0].is_link);
    CHECK(back.entries[1].name == "b");
    CHECK(back.entries[1].size == 17);
    CHECK(back.entries[2].is_directory);
    CHECK(back.entries[2].is_link);
    CHECK_FALSE(back.entries[3].is_directory);
    CHECK(back.entries[3].is_link);
}

TEST_CASE("bodies that lie about their lengths are refused") {
    const auto request = encode(Request{.path = "/run/a", .other = "/run/b"});
    for (std::size_t bytes = 0; bytes < request.size(); ++bytes)
        CHECK_FALSE(decode_request(std::span(request).first(bytes)));
    auto longer = request;
    longer.push_back(std::byte{0});
    CHECK_FALSE(decode_request(longer));
    auto with_zero = request;
    *std::ranges::find(with_zero, std::byte{'a'}) = std::byte{0};
    CHECK_FALSE(decode_request(with_zero));
    auto wild_access = request;
    wild_access[28] = std::byte{9};
    CHECK_FALSE(decode_request(wild_access));
    auto counted = encode(Answer{});
    store_le(counted.data() + counted.size() - 4, 0xFFFFFFFFu);
    CHECK_FALSE(decode_answer(counted));
    auto wild_kind = encode(Answer{});
    wild_kind[0] = std::byte{200};
    CHECK_FALSE(decode_answer(wild_kind));
}

TEST_CASE("a forwarder touches its run alone") {
    for (const char* inside : {"/s/run", "/s/run/restart", "/s/run/restart/.step-1.part/node-00000.h5", "/s/run/..x"})
        CHECK(check_path("/s/run", inside));
    for (const char* outside : {"", "/", "/s", "/s/run2", "/s/run2/x", "s/run/x", "/s/run/../x", "/s/run/..",
                                "/s/run/./x", "/s/run//x", "/s/run/", "/etc/passwd", "//s/run/x"}) {
        CAPTURE(outside);
        CHECK(check_path("/s/run", outside).error().kind == ErrorKind::refused);
    }
    CHECK_FALSE(check_path("/s/run", "/s/run/" + std::string(limits::path_bytes_max, 'x')));
}

TEST_CASE("a token is 32 digits, and words differ with whatever goes into them") {
    const auto token = new_token();
    REQUIRE(key_of(token));
    CHECK(token != new_token());
    for (const auto& none :
         {std::string(), token + "0", token.substr(1), "g" + token.substr(1), "-1" + token.substr(2)})
        CHECK(key_of(none).error().kind == ErrorKind::refused);
    const auto key = key_of(token).value();
    const Greeting greeting{.client_nonce = 1, .forwarder_nonce = 2, .client = 3, .run = "/run"};
    const auto word = word_of_client(key, greeting);
    CHECK(word == word_of_client(key, greeting));
    CHECK(word != word_of_forwarder(key, greeting));
    CHECK(word != word_of_client(key_of(new_token()).value(), greeting));
    for (int part = 0; part < 4; ++part) {
        auto other = greeting;
        if (part == 0) ++other.client_nonce;
        if (part == 1) ++other.forwarder_nonce;
        if (part == 2) ++other.client;
        if (part == 3) other.run = "/run2";
        CHECK(word != word_of_client(key, other));
    }
}

// Goal: an entry's attributes come back from its metadata if they fit. Metadata of others are read, and invalid
// metadata are ignored. Answers of servers are decoded with every field checked.
// Method: states to headers and back, headers of others, and XML.

#include "core/s3/object.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "core/s3/answers.hpp"
#include "core/s3/listed_names.hpp"

using namespace forebay;
using namespace forebay::s3;
using sys::EntryKind;

namespace {

const sys::NewEntryOwner owner{.user = 7, .group = 8, .umask = 022};

ObjectInfo read_back(const ObjectState& state, std::uint64_t bytes, const char* key = "key") {
    HttpAnswer answer{.headers = state.headers(), .body = {}};
    answer.headers.emplace_back("content-length", std::to_string(bytes));
    answer.headers.emplace_back("last-modified", "Wed, 21 Oct 2015 07:28:00 GMT");
    answer.headers.emplace_back("etag", "\"1\"");
    return object_from(key, answer, owner);
}

}  // namespace

TEST_CASE("s3: states come back from metadata") {
    ObjectState state{
        .permissions = 04751, .user = 1, .group = 4'000'000'000, .link_text = {}, .attributes = {}, .data = {}};
    state.modified = {-5, 7};
    state.accessed = {4'102'444'800, 987'654'321};
    state.attributes = {{"user.a,b:c", std::string("\0\xff", 2)}, {"security.capability", "x"}};
    state.data = {{{4'096, 8'192}, {10'000, 10'001}}};
    const auto file = read_back(state, 20'000);
    CHECK(file.state == state);
    CHECK(status_of(file, 3).allocated_bytes == 4'097);
    CHECK(status_of(file, 3).changed.seconds == 1'445'412'480);
    for (const auto kind :
         {EntryKind::link, EntryKind::fifo, EntryKind::socket, EntryKind::character_device, EntryKind::block_device}) {
        ObjectState other{
            .kind = kind, .permissions = 0644, .device_number = 0, .link_text = {}, .attributes = {}, .data = {}};
        if (kind == EntryKind::link) other.link_text = "../\xff elsewhere%";
        if (kind >= EntryKind::character_device) other.device_number = (std::uint64_t{259} << 32) + 1'048'575;
        CHECK(read_back(other, 0).state == other);
    }
    CHECK(read_back({.kind = EntryKind::folder, .link_text = {}, .attributes = {}, .data = {}}, 0, "a/").state.kind ==
          EntryKind::folder);
}

TEST_CASE("s3: the worked example of the page is what is sent") {
    ObjectState state{.permissions = 0640, .user = 1000, .group = 1000, .link_text = {}, .attributes = {}, .data = {}};
    state.modified = {1'700'000'000, 123'456'789};
    state.accessed = {1'700'000'000, 0};
    state.attributes = {{"user.comment", "some text"}};
    std::string text;
    for (const auto& [name, value] : state.headers()) text += name + ": " + value + "\n";
    const auto* const source = std::getenv("FOREBAY_SOURCE_DIR");
    REQUIRE_MESSAGE(source != nullptr, "run by ctest, or set FOREBAY_SOURCE_DIR");
    std::ifstream file(std::string(source) + "/docs/formats/examples/s3-object.txt");
    CHECK(text == std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST_CASE("s3: of others, and damaged") {
    const auto plain = object_from("key", {.headers = {{"content-length", "5"}}, .body = {}}, owner);
    CHECK(plain.state.permissions == 0644);
    CHECK(plain.state.user == 7);
    CHECK(plain.bytes == 5);
    const auto part = object_from(
        "key", {.headers = {{"content-range", "bytes 0-9/443"}, {"content-length", "10"}}, .body = {}}, owner);
    CHECK(part.bytes == 443);
    HttpAnswer odd{.headers = {{"x-amz-meta-mode", "120777"},
                               {"content-length", "4"},
                               {"x-amz-meta-mtime", "x"},
                               {"x-amz-meta-uid", "-1"},
                               {"x-amz-meta-forebay-data", "9-3"},
                               {"x-amz-meta-forebay-attributes", "a,b:!,:,c:Zg=="}},
                   .body = {}};
    const auto object = object_from("key", odd, owner);
    CHECK(object.state.kind == EntryKind::file);  // a link has no bytes
    CHECK(object.state.user == 7);
    CHECK_FALSE(object.state.data);
    CHECK(object.state.attributes.at("c") == "f");
    for (const char* text : {"1-", "-1", "0-5", "2-3,1-2", "1-2,", "a-b", "1-99999999999999999999"}) {
        odd.headers = {{"content-length", "4"}, {"x-amz-meta-forebay-data", text}};
        const auto data = object_from("key", odd, owner).state.data;
        CAPTURE(text);
        CHECK((!data || std::string(text) == "1-2,"));
    }
}

TEST_CASE("s3: times, and what is too large") {
    for (const auto& [text, time] : std::map<std::string, sys::FileTime>{{"0.000000000", {0, 0}},
                                                                         {"1700000000.000000001", {1'700'000'000, 1}},
                                                                         {"-0.500000000", {-1, 500'000'000}},
                                                                         {"-5.000000000", {-5, 0}},
                                                                         {"-4.999999993", {-5, 7}}}) {
        CHECK(time_text(time) == text);
        CHECK(time_from(text) == time);
    }
    CHECK(time_from("12") == sys::FileTime{12, 0});
    CHECK(time_from("12.5") == sys::FileTime{12, 500'000'000});
    CHECK(time_from("12.1234567891") == sys::FileTime{12, 123'456'789});
    for (const char* text : {"", ".", "-", "x", "1.x", "--1", "99999999999999999999"}) CHECK_FALSE(time_from(text));

    ObjectState state{.link_text = {}, .attributes = {}, .data = {}};
    state.attributes["user.large"] = std::string(1'400, 'x');
    CHECK(state.check_size());
    state.data.emplace();
    for (std::uint64_t at = 0; at < 64; ++at) state.data->push_back({at * 100'000, at * 100'000 + 4'096});
    CHECK(state.check_size());  // the map of holes is left out
    CHECK_FALSE(read_back(state, 64 * 100'000).state.data);
    state.attributes["user.large"] = std::string(1'600, 'x');
    CHECK(state.check_size().error().kind == ErrorKind::unsupported);
}

TEST_CASE("s3: listings are names, each once") {
    const auto page = listing_from(
                          "<ListBucketResult><EncodingType>url</EncodingType>"
                          "<Contents><Key>p/</Key><Size>0</Size></Contents>"
                          "<Contents><Key>p/a+b</Key><Size>5</Size></Contents>"
                          "<Contents><Key>p/empty</Key><Size>0</Size></Contents>"
                          "<Contents><Key>p/.fb-01234567-0123456789abcdef.parts</Key><Size>9</Size></Contents>"
                          "<CommonPrefixes><Prefix>p/d/</Prefix></CommonPrefixes>"
                          "<IsTruncated>false</IsTruncated></ListBucketResult>")
                          .value();
    ListedNames names;
    std::string problem;
    const auto refuse = [&](const ListedNames::Refused& refused) { problem = refused.why(); };
    const auto entries = names.add(page, "p/", refuse);
    CHECK(problem.empty());
    REQUIRE(entries.size() == 4);
    CHECK(entries[0].name == "a b");
    CHECK(entries[0].kind == EntryKind::file);
    CHECK(entries[1].kind == EntryKind::unknown);
    CHECK(entries[3].kind == EntryKind::folder);
    CHECK(names.is_complete());
    CHECK(names.is_folder("d"));
    // The upload of a valid mark is also an entry, unless an object has its name.
    const auto upload = names.add_upload(".fb-01234567-0123456789abcdef.parts");
    REQUIRE(upload);
    CHECK(upload->name == ".fb-01234567-0123456789abcdef");
    CHECK(names.is_upload(upload->name));
    CHECK_FALSE(names.add_upload("a b.parts"));
    CHECK_FALSE(names.is_upload("a b"));
    // "d" also as an object, and an empty name.
    CHECK(names.add({.objects = {{"p/d", 3}}, .prefixes = {}, .next = {}}, "p/", refuse).empty());
    CHECK(problem.find("p/d") != problem.npos);
    problem.clear();
    CHECK(names.add({.objects = {}, .prefixes = {"p//"}, .next = {}}, "p/", refuse).empty());
    CHECK_FALSE(problem.empty());
}

TEST_CASE("s3: of many names the first are forgotten, but not those that may still come as folders") {
    ListedNames names(3);
    std::string problem;
    const auto refuse = [&](const ListedNames::Refused& refused) { problem = refused.why(); };
    const s3::KeyPage first{.objects = {{"p/a", 1}, {"p/a-1", 1}, {"p/a-2", 1}, {"p/a-3", 1}},
                            .prefixes = {},
                            .is_truncated = true,
                            .next = "p/a-3"};
    CHECK(names.add(first, "p/", refuse).size() == 4);
    CHECK_FALSE(names.has_all());
    CHECK(names.knows("a"));
    CHECK_FALSE(names.knows("a-2"));
    CHECK(names.add({.objects = {{"p/b", 1}}, .prefixes = {"p/a/"}, .next = {}}, "p/", refuse).size() == 1);
    CHECK(problem.find("p/a/") != problem.npos);
    CHECK_FALSE(names.is_complete());
    ListedNames listed(2);
    for (const char* name : {"x", "y"}) listed.put(name, EntryKind::file);
    CHECK(listed.has_all());
    listed.put("z", EntryKind::file);
    CHECK_FALSE(listed.has_all());
    CHECK(listed.knows("z"));
}

TEST_CASE("s3: answers that are none") {
    for (const char* text :
         {"", "no xml", "<a/>", "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
          "<ListBucketResult><Contents><Key>a</Key><Size>x</Size></Contents></ListBucketResult>",
          "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"})
        CHECK(listing_from(text).error().kind == ErrorKind::corrupt);
    CHECK_FALSE(upload_id_from("<InitiateMultipartUploadResult/>"));
    CHECK_FALSE(parts_from("<ListPartsResult><Part><PartNumber>x</PartNumber></Part></ListPartsResult>"));
    CHECK(completed_from("<Error><Code>InternalError</Code></Error>").error().kind == ErrorKind::retry);
    CHECK(completed_from("<CopyObjectResult><ETag>\"1\"</ETag></CopyObjectResult>").value().etag == "\"1\"");
    CHECK(server_error_from("nothing").code.empty());
    CHECK(not_removed_from("<DeleteResult><Error><Key>a</Key><Code>b</Code></Error></DeleteResult>").value().size() ==
          1);
}

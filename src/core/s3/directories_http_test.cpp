// Goal: a directory of a bucket is renamed at once. After a crash at any point, and with a second client renaming it,
// it has exactly one name and all its contents. A removal removes nothing else.
// Method: a server in memory that is lost before and after every change; a second rename before every change of the
// first; threads that want one directory and one name.

#include "core/s3/directories.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "support/bucket_server.hpp"

using namespace forebay;
using namespace forebay::s3;

namespace {

constexpr const char* part = "run/s/.part/";
constexpr const char* step = "run/s/step/";
constexpr const char* aside = "run/s/aside/";

struct World {
    test::BucketServer server;
    std::shared_ptr<Bucket> bucket = server.bucket();

    /// The directories as another process sees them.
    Directories fresh() { return Directories(*bucket); }

    void fill(const std::string& key, const std::string& text) {
        const auto contents = fresh().contents_of(key).value();
        REQUIRE(contents);
        REQUIRE(bucket->put_text(*contents + "file", text));
    }
    void make(const std::string& key, const std::string& text) {
        REQUIRE(fresh().make(key));
        fill(key, text);
    }
    /// Returns the file's text; "" if there is no such directory, "nothing" if it has no file.
    std::string text_in(const std::string& key) {
        const auto contents = fresh().contents_of(key).value();
        if (!contents) return "";
        const auto text = bucket->find_text(*contents + "file").value();
        return text ? text->text : "nothing";
    }
    std::string where_is(const std::string& text) {
        std::string names;
        for (const auto* key : {part, step, aside})
            if (text_in(key) == text) names += key;
        return names;
    }
};

}  // namespace

TEST_CASE("s3: records of directories come back, and others are refused") {
    using Contents = DirectoryRecord::Contents;
    for (const auto& record :
         {DirectoryRecord(), DirectoryRecord{Contents::elsewhere, ".b/", "", ""},
          DirectoryRecord{Contents::none, "", "b/", "c/"}, DirectoryRecord{Contents::elsewhere, "a/", "b/", ""}})
        CHECK(directory_record_from(encode(record, 7)).value() == record);
    CHECK(directory_record_from("").value() == DirectoryRecord());
    const auto good = encode({Contents::none, "", "b/", "c/"}, 7);
    for (std::size_t bytes = 1; bytes < good.size(); ++bytes) CHECK_FALSE(directory_record_from(good.substr(0, bytes)));
    CHECK_FALSE(directory_record_from(good + "\n"));
    CHECK_FALSE(directory_record_from(encode({Contents::here, "a/", "", ""}, 7)));
    CHECK_FALSE(directory_record_from(encode({Contents::elsewhere, "", "", ""}, 7)));
    CHECK_FALSE(directory_record_from(encode({Contents::none, "", "a", ""}, 7)));
    CHECK_FALSE(directory_record_from(encode({Contents::none, "", "a/b/", ""}, 7)));
    CHECK_FALSE(directory_record_from(encode({Contents::none, "", "/", ""}, 7)));
}

TEST_CASE("s3: the worked example of a record is as docs/formats/s3.md says") {
    const char* source = std::getenv("FOREBAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    std::ifstream file(std::string(source) + "/docs/formats/examples/s3-directory.txt");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const DirectoryRecord record{DirectoryRecord::Contents::elsewhere, ".step-000120.00000000000000f3.part/", "", ""};
    CHECK(directory_record_from(text).value() == record);
    CHECK(encode(record, 0x00f3'0000'c0ff'ee9a) == text);
}

TEST_CASE("s3: a server that is lost at any change of a rename leaves one name") {
    World world;
    int losses = 0;
    // From the name at its creation to another name, back to the first, and to a name that had contents.
    const std::array<std::array<const char*, 2>, 4> renames{{{part, step}, {step, aside}, {aside, part}, {part, step}}};
    world.make(part, "mine");
    for (const auto& [from, to] : renames) {
        const auto before = world.server.objects();
        for (std::uint64_t change = 0;; ++change) {
            bool is_over = false;
            for (const bool is_done : {false, true}) {
                world.server.begin_with(before);
                world.server.lose_at(change, is_done);
                is_over = world.fresh().rename(from, to).has_value();
                world.server.come_back();
                CAPTURE(change);
                CAPTURE(is_done);
                const auto there = world.where_is("mine");
                REQUIRE((there == from || there == to));
                if (is_over) CHECK(there == to);
                // The next client finishes the rename.
                const auto again = world.fresh().rename(from, to);
                REQUIRE((again || again.error().kind == ErrorKind::missing));
                REQUIRE(world.where_is("mine") == to);
                ++losses;
            }
            if (is_over) break;
        }
    }
    CHECK(losses > 20);
    REQUIRE(world.fresh().remove(step).value());
    CHECK(world.server.objects().empty());
}

TEST_CASE("s3: a removal that is lost at any change can be done again, and leaves nothing") {
    World world;
    world.make(part, "mine");
    REQUIRE(world.fresh().rename(part, step));
    world.make(part, "other");  // the same name again gets other keys
    world.make(world.fresh().contents_of(step).value().value() + "below/", "deeper");
    const auto before = world.server.objects();
    for (std::uint64_t change = 0;; ++change) {
        bool is_over = false;
        for (const bool is_done : {false, true}) {
            world.server.begin_with(before);
            world.server.lose_at(change, is_done);
            is_over = world.fresh().remove(step).has_value();
            world.server.come_back();
            CAPTURE(change);
            REQUIRE(world.text_in(part) == "other");
            REQUIRE(world.fresh().remove(step));
            REQUIRE(world.text_in(step).empty());
            REQUIRE(world.text_in(part) == "other");
            REQUIRE(world.fresh().remove(part).value());
            REQUIRE(world.server.objects().empty());
        }
        if (is_over) break;
    }
}

TEST_CASE("s3: another rename before any change of one: one of them counts") {
    World world;
    world.make(part, "mine");
    const auto before = world.server.objects();
    for (std::uint64_t change = 0, changes = 1; change < changes; ++change) {
        world.server.begin_with(before);
        Result<> theirs = Error{ErrorKind::broken, "not called"};
        world.server.before_change = [&](std::uint64_t number) {
            if (number != change) return;
            world.server.before_change = {};
            theirs = world.fresh().rename(part, aside);
        };
        const auto ours = world.fresh().rename(part, step);
        changes = std::max(changes, change + 2);
        CAPTURE(change);
        const auto there = world.where_is("mine");
        REQUIRE((there == step || there == aside));
        if (there == step) CHECK(ours);
        else CHECK(theirs);
        CHECK_FALSE((ours && theirs && there == step));  // theirs came first, and ours found nothing to rename
        if (change >= 3) break;
    }
}

TEST_CASE("s3: of many that rename one directory, or reach for one name, one succeeds") {
    World world;
    for (int turn = 0; turn < 8; ++turn) {
        world.server.begin_with({});
        world.make(part, "mine");
        world.make("run/s/.other/", "other");
        std::array<Result<>, 4> done{};
        {
            std::vector<std::jthread> threads;
            for (std::size_t index = 0; index < done.size(); ++index)
                threads.emplace_back([&, index] {
                    done[index] =
                        world.fresh().rename(index % 2 == 0 ? part : "run/s/.other/", index < 2 ? step : aside);
                });
        }
        const auto own = world.where_is("mine");
        const auto other = world.text_in(step) == "other"    ? step
                           : world.text_in(aside) == "other" ? aside
                                                             : "run/s/.other/";
        CAPTURE(own);
        REQUIRE((own == part || own == step || own == aside));
        REQUIRE(world.text_in(other) == "other");
        CHECK(own != other);
    }
}

TEST_CASE("s3: many make one directory at once, under a name that had contents too") {
    World world;
    for (int turn = 0; turn < 8; ++turn) {
        world.server.begin_with({});
        if (turn % 2 == 1) {
            world.make(part, "mine");
            REQUIRE(world.fresh().rename(part, step));
        }
        std::array<std::string, 4> contents;
        {
            std::vector<std::jthread> threads;
            for (auto& own : contents)
                threads.emplace_back([&] {
                    auto directories = world.fresh();
                    if (directories.make(part)) own = directories.contents_of(part).value().value_or("none");
                });
        }
        CHECK(contents == std::array{contents[0], contents[0], contents[0], contents[0]});
        CHECK((contents[0] == part) == (turn % 2 == 0));
    }
}

TEST_CASE("s3: a name that is taken, a directory that is not there, and one that others made by keys alone") {
    World world;
    world.make(part, "mine");
    world.make(step, "there");
    CHECK(world.fresh().rename(part, step).error().kind == ErrorKind::refused);
    CHECK(world.fresh().rename("run/s/none/", aside).error().kind == ErrorKind::missing);
    CHECK_FALSE(world.fresh().remove("run/s/none/").value());
    REQUIRE(world.fresh().make(part));  // exists already
    CHECK(world.text_in(part) == "mine");
    REQUIRE(world.bucket->put_text("run/by/others/file", "theirs"));
    CHECK(world.text_in("run/by/others/") == "theirs");
    REQUIRE(world.fresh().rename("run/by/others/", "run/by/us/"));
    CHECK(world.text_in("run/by/us/") == "theirs");
    CHECK(world.text_in("run/by/others/").empty());
    CHECK(world.fresh().rename("run/by/us/", "run/us/").error().kind == ErrorKind::unsupported);
    CHECK(world.text_in("run/by/us/") == "theirs");
}

TEST_CASE("s3: a run whose keys another tool gives another prefix stays what it is") {
    World world;
    world.make("run/s/", "");
    world.make(part, "mine");
    REQUIRE(world.fresh().rename(part, step));
    world.make(part, "again");
    auto moved = test::BucketServer::Objects();
    for (const auto& [key, object] : world.server.objects()) moved["other/place/" + key] = object;
    world.server.begin_with(std::move(moved));
    CHECK(world.text_in(std::string("other/place/") + step) == "mine");
    CHECK(world.text_in(std::string("other/place/") + part) == "again");
    REQUIRE(world.fresh().rename(std::string("other/place/") + step, std::string("other/place/") + aside));
    CHECK(world.text_in(std::string("other/place/") + aside) == "mine");
    REQUIRE(world.fresh().remove("other/place/run/s/").value());
    CHECK(world.server.objects().empty());
}

TEST_CASE("s3: a server without conditions is refused before anybody relies on it") {
    World world;
    world.server.keeps_conditions = false;
    CHECK(world.fresh().make(part).error().kind == ErrorKind::unsupported);
}

// Goal: a file of a bucket can be written like any other: at any offset, by several threads, small or in parts. It
// appears whole when it is synced or, with a temporary name, renamed. An abandoned file leaves nothing.

#include "core/s3/object_store.hpp"

#include <doctest/doctest.h>

#include <random>
#include <thread>

#include "core/base/bytes.hpp"
#include "support/bucket_server.hpp"

using namespace forebay;
using namespace forebay::s3;

namespace {

constexpr std::uint64_t mib = 1u << 20;
const std::string top = "s3://bucket/run";

struct World {
    test::BucketServer server;
    const std::shared_ptr<Bucket> bucket = server.bucket();
    ObjectStore store{bucket};

    std::unique_ptr<sys::File> create(const std::string& name) {
        return store.open(top + "/" + name, sys::Access::create).value();
    }
    std::string text_of(const std::string& name) {
        const auto objects = server.objects();
        const auto object = objects.find("run/" + name);
        return object == objects.end() ? "none" : object->second.body;
    }
};

std::string noise(std::uint64_t bytes) {
    std::mt19937_64 chance(bytes);
    std::string text(bytes, '\0');
    for (auto& letter : text) letter = static_cast<char>(chance());
    return text;
}

}  // namespace

TEST_CASE("s3: small files show when they are synced or closed, and temporary ones when they are renamed") {
    World world;
    REQUIRE(world.store.make_directories(top));
    auto file = world.create("a");
    REQUIRE(file->write(4, bytes_of("later")));
    CHECK(world.text_of("a") == "none");
    REQUIRE(file->sync());
    CHECK(world.text_of("a") == std::string("\0\0\0\0later", 9));
    REQUIRE(file->write(0, bytes_of("soon")));
    REQUIRE(file->close());
    CHECK(world.text_of("a") == "soonlater");
    const auto changes = world.server.changes();
    REQUIRE(file->close());
    CHECK(world.server.changes() == changes);

    REQUIRE(sys::write_text_durable(world.store, top + "/b", "whole"));
    CHECK(world.text_of("b") == "whole");
    CHECK(world.server.changes() == changes + 1);  // one request
    CHECK(sys::read_text(world.store, top + "/b", 100).value() == "whole");

    file = world.create("c.tmp");
    REQUIRE(file->write(0, bytes_of("never")));
    REQUIRE(file->close());
    CHECK(world.store.exists(top + "/c.tmp").value());
    REQUIRE(world.store.remove(top + "/c.tmp"));
    CHECK_FALSE(world.store.exists(top + "/c.tmp").value());
    CHECK(world.server.objects().size() == 3);  // the directory, a and b
    const auto before = world.server.changes();
    REQUIRE(world.store.remove(top + "/c.tmp"));
    CHECK(world.server.changes() == before);
    REQUIRE(world.server.bucket()->put_text("run/others.tmp", "an object"));
    REQUIRE(world.store.remove(top + "/others.tmp"));
    CHECK(world.text_of("others.tmp") == "none");
}

TEST_CASE("s3: large files are sent in parts, in any order, by several threads, with holes") {
    World world;
    REQUIRE(world.store.make_directories(top));
    const auto text = noise(35 * mib + 77);
    auto file = world.create("big.h5.tmp");
    const auto write = [&](std::uint64_t begin, std::uint64_t end) {
        constexpr std::uint64_t step = 3 * mib + 5;
        for (auto at = begin; at < end; at += step) {
            const auto count = std::min(step, end - at);
            if (!file->write(at, bytes_of(std::string_view(text).substr(at, count)))) return;
        }
    };
    {
        const std::jthread later([&] { write(20 * mib, text.size()); });
        write(4'096, 20 * mib);
    }
    REQUIRE(file->write(0, bytes_of(std::string_view(text).substr(0, 4'096))));
    REQUIRE(file->truncate(text.size()));
    REQUIRE(file->sync());
    REQUIRE(file->close());
    CHECK(world.server.uploads() == 1);
    CHECK(world.text_of("big.h5") == "none");
    REQUIRE(world.store.rename(top + "/big.h5.tmp", top + "/big.h5"));
    CHECK(world.text_of("big.h5") == text);
    CHECK(world.server.uploads() == 0);
    std::string back(100, '\0');
    auto opened = world.store.open(top + "/big.h5", sys::Access::read).value();
    CHECK(opened->size().value() == text.size());
    REQUIRE(opened->read(16 * mib - 50, std::as_writable_bytes(std::span(back))));
    CHECK(back == text.substr(16 * mib - 50, 100));
    CHECK(opened->read(text.size() - 50, std::as_writable_bytes(std::span(back))).error().kind == ErrorKind::corrupt);

    auto holes = world.create("holes");
    REQUIRE(holes->write(33 * mib, bytes_of("end")));
    REQUIRE(holes->close());
    CHECK(world.text_of("holes") == std::string(33 * mib, '\0') + "end");
    CHECK_FALSE(holes->write(0, bytes_of("late")));
    auto changed = world.store.open(top + "/holes", sys::Access::update).value();
    REQUIRE(changed->write(5, bytes_of("in time")));
    REQUIRE(changed->close());
    CHECK(world.text_of("holes") == std::string(5, '\0') + "in time" + std::string(33 * mib - 12, '\0') + "end");
}

TEST_CASE("s3: parts that border on what stays zeros are sent when their bytes are there, and no memory stays") {
    // Each variable has room for 17 MiB and uses 3 MiB. Measures the most memory while a part is sent, and the memory
    // kept.
    for (const std::uint64_t variables : {2, 6}) {
        constexpr std::uint64_t room = 17 * mib, used = 3 * mib;
        World world;
        REQUIRE(world.store.make_directories(top));
        std::uint64_t most = 0;
        world.server.before_change = [&](std::uint64_t) { most = std::max(most, world.bucket->part_memory.bytes()); };
        auto file = world.create("big.h5.tmp");
        for (std::uint64_t v = 0; v < variables; ++v) file->leave_zeros(v * room + used, room - used);
        for (std::uint64_t v = 0; v < variables; ++v) REQUIRE(file->write(v * room, bytes_of(noise(used))));
        const auto parts = (variables * room + 16 * mib - 1) / (16 * mib);
        CHECK(world.server.parts_of("run/big.h5") >= parts - 1);  // except the last part and parts of zeros
        REQUIRE(file->truncate(variables * room));
        REQUIRE(file->close());
        file.reset();
        REQUIRE(world.store.rename(top + "/big.h5.tmp", top + "/big.h5"));
        CHECK(most == 16 * mib);
        CHECK(world.bucket->part_memory.bytes() == 0);
        const auto text = world.text_of("big.h5");
        REQUIRE(text.size() == variables * room);
        for (std::uint64_t v = 0; v < variables; ++v) {
            const auto there = std::string_view(text).substr(v * room, room);
            CHECK(there.substr(0, used) == noise(used));
            CHECK(there.find_first_not_of('\0', used) == there.npos);
        }
    }
}

TEST_CASE("s3: an upload that was given up leaves nothing, and one that others left is given up") {
    World world;
    REQUIRE(world.store.make_directories(top));
    {
        ObjectStore killed(world.server.bucket());
        auto file = killed.open(top + "/big.h5.tmp", sys::Access::create).value();
        REQUIRE(file->write(0, bytes_of(noise(17 * mib))));
        world.server.lose_at(0, false);  // a dying file reaches no server
    }
    world.server.come_back();
    CHECK(world.server.uploads() == 1);
    auto file = world.create("big.h5.tmp");
    REQUIRE(file->write(0, bytes_of(noise(33 * mib))));
    CHECK(world.server.uploads() == 1);
    REQUIRE(world.store.remove(top + "/big.h5.tmp"));
    CHECK(world.server.uploads() == 0);
    {
        auto other = world.create("s.tmp");
        REQUIRE(other->write(0, bytes_of(noise(17 * mib))));
        REQUIRE(world.server.uploads() == 1);
        REQUIRE(world.store.remove_tree(top));
        CHECK(world.server.uploads() == 0);
    }
}

TEST_CASE("s3: files are changed as a whole, and directories of files are listed and removed") {
    World world;
    CHECK(world.store.make_directory(top + "/x/y").error().kind == ErrorKind::missing);
    CHECK(world.store.open(top + "/a", sys::Access::create).error().kind == ErrorKind::missing);
    REQUIRE(world.store.make_directories(top + "/x"));
    REQUIRE(world.store.make_directory(top + "/x"));
    for (const char* line : {"one\n", "two\n"}) {
        auto log = world.store.open(top + "/log", sys::Access::update).value();
        REQUIRE(log->write(log->size().value(), bytes_of(line)));
        REQUIRE(log->close());
    }
    CHECK(world.text_of("log") == "one\ntwo\n");
    REQUIRE(world.store.rename(top + "/log", top + "/x/old"));
    CHECK(world.text_of("x/old") == "one\ntwo\n");
    REQUIRE(world.store.rename(top + "/x", top + "/z"));
    const auto entries = world.store.list(top).value();
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].name == "z");
    CHECK(entries[0].is_directory);
    CHECK(world.store.list(top + "/z").value().at(0).size == 8);
    CHECK(world.store.list(top + "/x").error().kind == ErrorKind::missing);
    CHECK(world.store.open(top + "/x/old", sys::Access::read).error().kind == ErrorKind::missing);
    CHECK_FALSE(world.store.exists(top + "/x").value());
    CHECK(world.store.exists(top + "/z").value());
    REQUIRE(world.store.remove_tree(top + "/none"));
    REQUIRE(world.store.remove(top + "/none/file"));
    REQUIRE(sys::remove_tree_at_once(world.store, top + "/z"));
    REQUIRE(world.store.remove_tree(top));
    CHECK(world.server.objects().empty());
}

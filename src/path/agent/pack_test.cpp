// Goal: packed files are all there, once, byte for byte with names, modes and times, in few batches. No cut loses a
// file: it is in a committed batch or still in the spool. Method: a real directory as spool, the simulated disk as
// target, cut before each of its operations.

#include "path/agent/pack.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "core/format/packed.hpp"
#include "path/catalog/catalog.hpp"
#include "support/crashes.hpp"
#include "support/packed_files.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using agent::Packer;
using test::content_of;
using test::files_in;
using test::pack_all;
using test::packed_in;
using test::put;
using test::SimStore;
namespace fs = std::filesystem;

namespace {

const std::string stream = "packed-here";

}  // namespace

TEST_CASE("every kind of file comes back as it was") {
    const test::TempDirectory folder;
    const fs::path spool = folder / "spool";
    std::map<std::string, std::string> wanted{{"a.csv", "1,2\n"},
                                              {"empty", ""},
                                              {"deep/er/big.bin", std::string(3'000'000, 'x')},
                                              {"_forebay/x", "not ours"},
                                              {"_unnamed/00000", "nor this"},
                                              {"not \xff utf8\n%41", "odd"},
                                              {std::string(200, 'a') + "/" + std::string(100, 'b'), "long"}};
    for (const auto& [path, content] : wanted) put(spool / path, content);
    put(spool / ".writing", "not finished");
    put(spool / ".hidden/x", "not finished");
    fs::create_symlink("a.csv", spool / "link");
    fs::permissions(spool / "a.csv", fs::perms(0640));

    SimStore disk;
    Packer packer(disk, spool, "run7", stream);
    CHECK(pack_all(packer) == 1);
    CHECK(packed_in(disk, "run7", stream) == wanted);
    CHECK(files_in(spool).size() == 2);
    const auto snapshot = catalog::snapshots(disk, "run7", stream).value().front();
    for (const auto& variable : catalog::load_manifest(disk, snapshot.directory).value().schema.variables)
        if (variable.name == "a.csv") CHECK(format::packed_file(variable)->mode == 0640);
}

TEST_CASE("thousands of files make few batches; a large one is a batch of its own") {
    const test::TempDirectory folder;
    const fs::path spool = folder / "spool";
    for (int i = 0; i < 2500; ++i) put(spool / ("f" + std::to_string(i)), std::to_string(i));
    SimStore disk;
    Packer packer(disk, spool, "run7", stream, true, {.files_max = 1000, .bytes_max = 100'000});
    CHECK(pack_all(packer) == 3);
    CHECK(packed_in(disk, "run7", stream).size() == 2500);
    put(spool / "large", std::string(200'000, 'y'));
    put(spool / "small", "z");
    fs::last_write_time(spool / "large", fs::file_time_type::clock::now() - std::chrono::hours(1));
    CHECK(packer.pack_batch().value().files == 1);
    CHECK(packer.pack_batch().value().files == 1);
    CHECK(catalog::snapshots(disk, "run7", stream).value().size() == 5);
    CHECK(packed_in(disk, "run7", stream).size() == 2502);
    CHECK(Packer(disk, spool, "run7", "outputs").pack_batch().error().kind == ErrorKind::refused);
}

TEST_CASE("files that stay are packed once; one that is written again while it is packed stays") {
    const test::TempDirectory folder;
    const fs::path spool = folder / "spool";
    put(spool / "a", "1");
    SimStore disk;
    Packer keeping(disk, spool, "run7", stream, false);
    CHECK(pack_all(keeping) == 1);
    CHECK(content_of(spool / "a") == "1");

    struct Rewriting : test::PassingStore {
        using PassingStore::PassingStore;
        Result<> rename(const std::string& from, const std::string& to) override {
            if (to.ends_with(".h5")) put(file, "second");
            return PassingStore::rename(from, to);
        }
        fs::path file;
    } store(disk);
    store.file = spool / "a";
    Packer packer(store, spool, "run7", stream);
    CHECK(packer.pack_batch().value().files == 1);
    CHECK(content_of(spool / "a") == "second");
}

TEST_CASE("a file that vanishes under the packer is left out, the others are packed") {
    const test::TempDirectory folder;
    const fs::path spool = folder / "spool";
    for (const auto* name : {"a", "b", "c"}) put(spool / name, name);
    SimStore disk;
    struct Removing : test::PassingStore {
        using PassingStore::PassingStore;
        Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
            fs::remove(file);
            return PassingStore::open(path, access);
        }
        fs::path file;
    } store(disk);
    store.file = spool / "b";
    Packer packer(store, spool, "run7", stream);
    CHECK(pack_all(packer) == 2);  // the files before it, and the files after it
    CHECK(packer.left_out().empty());
    CHECK(packed_in(disk, "run7", stream) == std::map<std::string, std::string>{{"a", "a"}, {"c", "c"}});
    CHECK(catalog::leftovers(disk, "run7", stream).value().empty());
}

TEST_CASE("cut before any operation of the target: a file is committed or still spooled, and twice at worst") {
    std::map<std::string, std::string> wanted{{"a", "1"}, {"d/b", "22"}, {"c", std::string(5000, 'c')}};
    struct World {
        test::TempDirectory folder;
        fs::path spool = folder / "spool";
        SimStore disk;
    };
    const auto make = [&] {
        auto world = std::make_unique<World>();
        for (const auto& [path, content] : wanted) put(world->spool / path, content);
        return world;
    };
    const auto pack = [&](World& world) {
        const auto packed = Packer(world.disk, world.spool, "run7", stream, true, {.files_max = 2}).pack_batch();
        if (packed && world.disk.crashed()) FAIL("cut");
    };
    int twice = 0;
    const auto check = [&](World& world) {
        auto files = files_in(world.spool);
        files.merge(packed_in(world.disk, "run7", stream));
        CHECK(files == wanted);
        Packer next(world.disk, world.spool, "run7", stream);
        pack_all(next);
        std::map<std::string, int> times;
        CHECK(packed_in(world.disk, "run7", stream, &times) == wanted);
        CHECK(files_in(world.spool).empty());
        for (const auto& [path, count] : times) {
            CHECK(count <= 2);
            twice += count == 2 ? 1 : 0;
        }
    };
    CHECK(test::crash_worlds_at_each(make, {test::programs_killed, 0}, pack, check) > 10);
    CHECK(twice > 0);  // some cut came between the commit and the removal
}

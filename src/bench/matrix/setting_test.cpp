// Goal: words become their setting, or an error with the option's name. A sweep makes each combination once. Impossible
// combinations are reported. A scale changes only bytes and seconds.

#include "bench/matrix/setting.hpp"

#include <doctest/doctest.h>

#include "bench/matrix/outcome.hpp"
#include "core/sys/store.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::bench;

namespace {

std::string refusal(const Words& words) {
    const auto setting = setting_from(words);
    REQUIRE_FALSE(setting);
    CHECK(setting.error().kind == ErrorKind::refused);
    return setting.error().what;
}

std::string reason(const Words& words) {
    const auto setting = setting_from(words);
    REQUIRE(setting);
    return why_not(*setting);
}

}  // namespace

TEST_CASE("setting: defaults stand in, and every word is kept") {
    const auto setting = setting_from({});
    REQUIRE(setting);
    CHECK(setting->via == Via::posix);
    CHECK(setting->size_bytes == 64u << 20);
    CHECK(setting->operations.write);
    CHECK(setting->operations.read);
    CHECK_FALSE(setting->operations.cold);
    CHECK(setting->words.size() == matrix_options().size());
}

TEST_CASE("setting: each option is understood") {
    const auto setting = setting_from({{"via", "forebay"},
                                       {"layout", "groups:3"},
                                       {"data", "8xf4"},
                                       {"mem", "aos"},
                                       {"size", "total:1.5G"},
                                       {"vary", "lognormal:0.2"},
                                       {"xfer", "500KB"},
                                       {"compute", "2:burn"},
                                       {"op", "write,read:cold,restart:4,kill"},
                                       {"stage", "/nvme,slots=2,agent=thread"},
                                       {"target", "/a,/b"},
                                       {"fill", "compressible:4"},
                                       {"tree", "n=5:z=2:b=3:own"}});
    REQUIRE(setting);
    CHECK(setting->groups == 3);
    CHECK(setting->data.count == 8);
    CHECK(setting->data.type == f32);
    CHECK(setting->size_is_total);
    CHECK(setting->size_bytes == 1536u << 20);
    CHECK(setting->vary.kind == Vary::Kind::lognormal);
    CHECK(setting->xfer_bytes == 500'000);
    CHECK(setting->burns);
    CHECK(setting->compute_seconds == 2);
    CHECK(setting->operations.cold);
    CHECK(setting->operations.kill);
    CHECK(setting->operations.readers == 4);
    CHECK(setting->staging == "/nvme");
    CHECK(setting->slots == 2);
    CHECK(setting->agent == AgentMode::thread);
    CHECK(setting->targets == std::vector<std::string>{"/a", "/b"});
    CHECK(setting->compressible == 4);
    CHECK(setting->tree.own);
    CHECK(setting->tree.branches == 3);
}

TEST_CASE("setting: a word that is not understood names its option") {
    for (const auto& [key, value] : Words{{"via", "ftp"},
                                          {"layout", "groups:0"},
                                          {"layout", "heap"},
                                          {"sync", "maybe"},
                                          {"data", "8xf3"},
                                          {"data", "grid:4x0"},
                                          {"mem", "none"},
                                          {"size", "-4"},
                                          {"size", "4Q"},
                                          {"vary", "150%"},
                                          {"xfer", "0"},
                                          {"xfer", "2G"},
                                          {"dumps", "0"},
                                          {"compute", "1:walk"},
                                          {"durable", "forever"},
                                          {"op", "write,erase"},
                                          {"stage", "/dev/shm,slots=0"},
                                          {"stonewall", "soon"},
                                          {"fill", "compressible:0.5"},
                                          {"tree", "q=1"},
                                          {"hint", "striping_factor"}})
        CHECK(refusal({{key, value}}).find("--" + key) == 0);
}

TEST_CASE("sweep: each combination once, the last axis fastest") {
    const auto rows = rows_of({{"xfer", "1M"}}, {"via=posix,mpiio", "op=write;write,read"});
    REQUIRE(rows);
    REQUIRE(rows->size() == 4);
    CHECK(word_of((*rows)[0], "via") == "posix");
    CHECK(word_of((*rows)[1], "via") == "posix");
    CHECK(word_of((*rows)[1], "op") == "write,read");
    CHECK(word_of((*rows)[2], "via") == "mpiio");
    CHECK(word_of((*rows)[3], "xfer") == "1M");
    CHECK_FALSE(rows_of({}, {"speed=1,2"}));
    CHECK_FALSE(rows_of({}, {"via"}));
}

TEST_CASE("combinations: what cannot be is said, what can be is not") {
    CHECK(reason({}).empty());
    CHECK(reason({{"via", "posix"}, {"sync", "collective"}}) == "posix has no collective calls");
    CHECK(reason({{"via", "mpiio"}, {"sync", "collective"}}).empty());
    CHECK_FALSE(reason({{"via", "forebay"}, {"layout", "rank"}}).empty());
    CHECK_FALSE(reason({{"via", "posix"}, {"stage", "/dev/shm"}}).empty());
    CHECK_FALSE(reason({{"data", "palm"}, {"mem", "aos"}}).empty());
    CHECK_FALSE(reason({{"data", "grid:8x8"}, {"vary", "15%"}}).empty());
    CHECK_FALSE(reason({{"op", "read"}}).empty());
    CHECK_FALSE(reason({{"op", "write,kill,restart"}}).empty());
    CHECK(reason({{"op", "write,kill,restart"}, {"dumps", "3"}}).empty());
    CHECK(reason({{"stonewall", "1"}}).find("use --op write") != std::string::npos);
    CHECK(reason({{"stonewall", "1"}, {"op", "write"}}).empty());
}

TEST_CASE("scale: bytes and seconds alone") {
    const auto words =
        scaled({{"size", "total:64M"}, {"compute", "360:burn"}, {"xfer", "1M"}, {"data", "grid:100x7"}}, 0.1);
    REQUIRE(words);
    CHECK(word_of(*words, "size") == "total:6710886");
    CHECK(word_of(*words, "compute") == "36:burn");
    CHECK(word_of(*words, "xfer") == "1M");
    CHECK(word_of(*words, "data") == "grid:10x7");
    CHECK(word_of(*scaled({{"data", "particles:8M"}}, 0.5), "data") == "particles:4194304");
}

TEST_CASE("sweep: of a key that is none the nearest is named") {
    CHECK(rows_of({}, {"transfer=1M,4M"}).error().next == "--sweep xfer=1M,4M");
    CHECK(rows_of({}, {"target_dir=/a"}).error().next == "--sweep target=/a");
}

TEST_CASE("case files: options, rows, sweeps and what was published; a wrong key names its line") {
    const test::TempDirectory folder;
    const auto path = folder.path() + "/case.toml";
    const auto write = [&](const std::string& text) {
        REQUIRE(sys::write_text_durable(sys::posix_store(), path, text));
    };
    write(
        "title = \"T\"\nsource = \"S\"\ndumps = 3\nrows = [{ via = \"mpiio\" }]\nsweep = [\"layout=rank,shared\"]\n"
        "[[published]]\nvia = \"mpiio\"\nmeasure = \"visible_seconds\"\nstatistic = \"max\"\nvalue = 10\n");
    const auto good = read_case(path);
    REQUIRE(good);
    CHECK(word_of(good->words, "dumps") == "3");
    CHECK(word_of(good->rows.at(0), "via") == "mpiio");
    CHECK(good->sweeps == std::vector<std::string>{"layout=rank,shared"});
    CHECK(good->published.at(0).is_max);
    CHECK(good->published.at(0).value == 10);
    write("title = \"T\"\nspeed = 3\n");
    CHECK(read_case(path).error().what.find("line 2: 'speed' is not known") != std::string::npos);
    write("title = \n");
    CHECK(read_case(path).error().kind == ErrorKind::corrupt);
    write("title = \"T\"\n[[published]]\nmeasure = \"x\"\nvalue = 1\n");
    CHECK_FALSE(read_case(path));
}

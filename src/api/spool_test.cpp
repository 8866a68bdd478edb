// Goal: what programs of the job put into a session's spool is in few files of the run when the session is closed, and
// `forebay extract` gives it back; with the agent killed nothing is removed, the close says so, and `forebay drain`
// packs. Method: a session alone, agents as threads and as processes; the real program.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "drain/spool.hpp"
#include "format/packed.hpp"
#include "support/killable.hpp"
#include "support/sessions.hpp"

using namespace forebay;
namespace fs = std::filesystem;

namespace {

void put(const Session& session, const std::string& name, const std::string& content) {
    const fs::path spool = session.spool();
    std::ofstream(spool / (".writing-" + name)) << content;
    fs::rename(spool / (".writing-" + name), spool / name);
}

std::size_t files_below(const fs::path& directory) {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) count += entry.is_regular_file() ? 1 : 0;
    return count;
}

std::string first_line(const fs::path& path) {
    std::string line;
    std::ifstream in(path);
    std::getline(in, line);
    return line;
}

}  // namespace

TEST_CASE("a thousand small files are one batch when the session is closed") {
    for (const auto mode : {AgentMode::thread, AgentMode::process}) {
        const test::TempDirectory folder;
        auto options = test::options_in(folder, 1);
        options.agent.mode = mode;
        {
            test::RowRank here(comm::alone(), options);
            for (int i = 0; i < 1000; ++i) put(here.session, "f" + std::to_string(i), "file " + std::to_string(i));
            CHECK(here.save(1).value().kept);
            here.session.close().value();
            CHECK(here.session.spool().empty());
        }
        CHECK(test::staged(options).empty());
        // Node file and manifest of the state and of each batch: two if the agent took the first files early. And the
        // run's own four: its identity, and what the session said of itself.
        const auto files = files_below(options.run);
        const auto own = files_below(options.run + "/forebay");
        CHECK(files - own >= 4);
        CHECK(files - own <= 7);
        const auto out = folder / "out";
        test::forebay_command("extract " + options.run + " --directory " + out);
        CHECK(files_below(out) == 1000);
        CHECK(first_line(fs::path(out) / "f999") == "file 999");
        const auto again = test::forebay_command("extract " + options.run + " --directory " + out, 2);
        CHECK_MESSAGE(again.find("--overwrite") != std::string::npos, again);
        fs::remove_all(out);
        test::forebay_command("extract " + options.run + " --only 'f99*' -C " + out);
        CHECK(files_below(out) == 11);
        // Retention of the run leaves packed files alone.
        test::forebay_command("prune " + options.run + " --keep 1");
        CHECK(files_below(options.run) == files);
    }
}

TEST_CASE("with the agent killed close() says what is left, and forebay drain packs it") {
    const test::TempDirectory folder;
    auto options = test::options_in(folder, 1);
    options.agent.mode = AgentMode::process;
    auto session = Session::open(options).value();
    test::kill_agents(options);
    put(session, "late", "kept");
    const auto closed = session.close();
    REQUIRE_FALSE(closed);
    CHECK_MESSAGE(closed.error().text.find("1 files of ") != std::string::npos, closed.error().text);
    const auto directory = test::staged(options).at(0);
    CHECK(closed.error().text.find("forebay drain " + directory) != std::string::npos);
    test::forebay_command("drain " + directory);
    CHECK(test::staged(options).empty());
    test::forebay_command("extract " + options.run + " -C " + (folder / "out"));
    CHECK(first_line(folder / "out/late") == "kept");
}

TEST_CASE("nothing is extracted through a link, nor into names that exist") {
    const test::TempDirectory folder;
    const fs::path from = folder / "from", out = folder / "out";
    fs::create_directories(from / "d");
    std::ofstream(from / "d/x") << "1";
    test::forebay_command("pack " + from.string() + " " + (folder / "run"));
    fs::create_directories(out);
    fs::create_directories(folder / "elsewhere");
    fs::create_symlink(folder / "elsewhere", out / "d");
    const auto said = test::forebay_command("extract " + (folder / "run") + " -C " + out.string(), 2);
    CHECK_MESSAGE(said.find("is a link") != std::string::npos, said);
    CHECK(fs::is_empty(folder / "elsewhere"));
    // A path that leads out of the directory is no packed file, whoever wrote it.
    for (const auto* path : {"..%2Fx", "/etc/x", "a/..%2F..", "a//b", "", "%00"}) {
        Variable variable = format::packed_variable({.path = "ok\n", .bytes = 1}, 0);
        variable.attributes.others.back().second = std::string(path);
        CHECK_FALSE(format::packed_file(variable));
    }
}

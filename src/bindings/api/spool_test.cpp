// Goal: files that programs of the job put into a session's spool are in a few files of the run after the session
// closes, and `forebay extract` restores them. If the agent is killed, nothing is removed, close() reports it, and
// `forebay drain` packs them. A file that gets its name while close() works is packed, or refused to its program, or
// stays and is reported.
// Method: one session, with agent threads and agent processes; a thread that writes while the session closes; a user
// without root's permissions; the real program.

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/sys/machine.hpp"
#include "path/agent/leftovers.hpp"
#include "path/agent/spool.hpp"
#include "support/killable.hpp"
#include "support/ordinary_user.hpp"
#include "support/packed_files.hpp"
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
        const test::TempDirectory folder("/dev/shm");  // a thousand files are synced one by one
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
        // The node file and manifest of the state and of each batch: there are two batches if the agent took the first
        // files early. And four files of the run itself: its identity, and the session's records.
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
    CHECK_MESSAGE(closed.error().text().find("1 file of ") != std::string::npos, closed.error().text());
    const auto directory = test::staged(options).at(0);
    CHECK(closed.error().text().find("forebay drain " + directory) != std::string::npos);
    test::forebay_command("drain " + directory);
    CHECK(test::staged(options).empty());
    test::forebay_command("extract " + options.run + " -C " + (folder / "out"));
    CHECK(first_line(folder / "out/late") == "kept");
}

TEST_CASE("a program that goes on while the session closes: what it was not refused is packed") {
    for (const auto mode : {AgentMode::thread, AgentMode::process})
        for (const bool by_directory : {false, true}) {
            CAPTURE(by_directory);
            const test::TempDirectory folder("/dev/shm");
            auto options = test::options_in(folder, 1);
            options.agent.mode = mode;
            options.close_wait = std::chrono::seconds(5);
            auto session = Session::open(options).value();
            // A directory that takes a while to remove. Meanwhile the program finishes more files.
            fs::create_directory(session.spool() + "/.unfinished");
            for (int i = 0; i < 10'000; ++i) std::ofstream(session.spool() + "/.unfinished/" + std::to_string(i));
            // By path, or relative to the spool as working directory.
            const auto spool = session.spool();
            const int at = by_directory ? ::open(spool.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
            const auto name_of = [&](const std::string& name) { return by_directory ? name : spool + "/" + name; };
            std::atomic<int> finished{0};
            std::atomic<bool> stop{false};
            std::thread program([&] {
                for (; !stop; ++finished) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // it computes
                    const int file = ::openat(at, name_of(".w").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
                    if (file < 0) return;
                    static_cast<void>(::write(file, "x", 1));
                    ::close(file);
                    const auto name = name_of("plot-" + std::to_string(finished));
                    if (::renameat(at, name_of(".w").c_str(), at, name.c_str()) != 0) return;
                }
            });
            test::wait_until([&] { return finished > 10; });
            auto closed = session.close();
            stop = true;
            program.join();
            if (!closed) {  // the agent had gone before the program saw the end
                CHECK_MESSAGE(closed.error().text().find("forebay drain") != std::string::npos, closed.error().text());
                test::forebay_command("drain all --staging " + options.staging);
            }
            CHECK(test::staged(options).empty());
            test::forebay_command("extract " + options.run + " -C " + (folder / "out"));
            CHECK(files_below(folder / "out") == static_cast<std::size_t>(finished.load()));
            if (by_directory) ::close(at);
        }
}

TEST_CASE("a directory of the spool that cannot be listed: close() and drain name it, and what is staged stays known") {
    const auto output = test::told_by_ordinary_user([]() -> std::string {
        const test::TempDirectory folder;
        auto options = test::options_in(folder, 1);
        auto session = Session::open(options).value();
        const fs::path spool = session.spool();
        fs::create_directories(spool / "a/b");
        std::ofstream(spool / "a/b/x") << "closed";
        fs::permissions(spool / "a/b", fs::perms::none);
        put(session, "good", "1");
        const auto closed = session.close();
        if (closed) return "it was closed";
        std::string text =
            closed.error().what.find("a/b") == std::string::npos ? closed.error().what : "close names it";
        const auto directory = test::staged(options).at(0);
        for (const bool opens : {false, true}) {
            if (opens)
                for (const auto& entry : fs::directory_iterator(directory))
                    if (fs::is_directory(entry)) fs::permissions(entry.path() / "a/b", fs::perms::owner_all);
            const auto drained = agent::drain_leftover(directory, {}, {.remove = true});
            if (!drained) text += ", " + drained.error().text();
            else
                for (const auto& leftover : *drained)
                    text += leftover.text.find("a/b") == std::string::npos ? ", " + leftover.text : ", drain names it";
            text += fs::exists(directory + "/session.json") ? ", known" : ", gone";
        }
        const auto packed =
            test::packed_in(sys::posix_store(), options.run, agent::spool_stream(directory, sys::host_name()));
        return text + ", packed " + std::to_string(packed.size());
    });
    CHECK(output == "close names it, drain names it, known, gone, packed 2");
}

TEST_CASE("a spool file of a time that no clock knows is packed when the session closes") {
    const test::TempDirectory folder("/dev/shm");  // tmpfs keeps every time
    auto options = test::options_in(folder, 1);
    auto session = Session::open(options).value();
    put(session, "precious", "kept");
    const auto path = session.spool() + "/precious";
    const timespec times[2] = {{.tv_sec = 32'503'680'000, .tv_nsec = 0}, {.tv_sec = 32'503'680'000, .tv_nsec = 0}};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
    session.close().value();
    test::forebay_command("extract " + options.run + " -C " + (folder / "out"));
    CHECK(first_line(folder / "out/precious") == "kept");
}

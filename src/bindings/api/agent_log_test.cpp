// Goal: the log of an agent never fills the node. A log that an earlier session left full is moved aside. Method: a
// staging directory with a long log, then a session with its own agent process.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "core/base/limits.hpp"
#include "core/sys/private_file.hpp"
#include "support/killable.hpp"
#include "support/processes.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
namespace fs = std::filesystem;

TEST_CASE("an agent that is a process puts a long log aside and goes on in a new one") {
    const test::TempDirectory folder;
    const Options options{.run = folder / "run", .staging = folder.path()};
    const auto directory = test::staging_of(options);
    sys::make_private_directory(directory).value();
    const auto log = node::agent_log_path(directory);
    { std::ofstream(log) << std::string(3 * limits::log_bytes_max, 'x') << "\n"; }
    fs::permissions(log, fs::perms::owner_read | fs::perms::owner_write);

    auto session = Session::open(options).value();
    auto stream = session.stream("restart").value();
    std::int64_t step = 1;
    stream.replicated("step", &step).value();
    stream.save(step).value();
    stream.wait_committed(std::chrono::seconds(60)).value();
    CHECK(fs::file_size(log) < limits::log_bytes_max);
    CHECK(fs::file_size(log + ".1") > limits::log_bytes_max);
    CHECK(test::agent_of(directory) > 0);
    CHECK(test::soon([&] { return test::text_in(log).find("is committed") != std::string::npos; }));
    session.close().value();
}

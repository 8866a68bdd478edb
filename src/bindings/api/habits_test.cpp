// Goal: an application may leave children unreaped, close descriptors, and remove its working directory. It can still
// save, and the snapshots are right.
// Method: children with such habits save, with an agent process or an agent thread; the snapshots are read back.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "forebay/forebay.hpp"
#include "path/catalog/catalog.hpp"
#include "support/limited_process.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

Options options_in(const test::TempDirectory& folder, AgentMode mode) {
    Options options{.run = folder / "run", .staging = folder.path()};
    options.agent.mode = mode;
    return options;
}

/// Saves steps 1 to 3 and commits them.
int save(const Options& options, std::uint64_t elements = 1000) {
    auto session = Session::open(options).value();
    auto stream = session.stream("restart", {.keep = 0}).value();
    std::vector<double> data(elements, 2.5);
    stream.array("u", f64, {elements}, {packed({{0}, {elements}}, data.data())}).value();
    for (std::int64_t step = 1; step <= 3; ++step) {
        stream.save(step).value();
        stream.wait_committed(60s).value();
    }
    session.close().value();
    return 0;
}

void check_saved(const Options& options) {
    const auto all = catalog::snapshots(sys::posix_store(), options.run, "restart").value();
    CHECK(all.size() == 3);
    for (const auto& snapshot : all) CHECK(catalog::verify(sys::posix_store(), snapshot, {}).value().damage.empty());
}

}  // namespace

TEST_CASE("children that the application ignores, or collects all: its agent starts") {
    for (const bool ignores : {true, false}) {
        CAPTURE(ignores);
        const test::TempDirectory folder;
        const auto options = options_in(folder, AgentMode::process);
        CHECK(test::in_child([&] {
                  if (ignores) ::signal(SIGCHLD, SIG_IGN);
                  else
                      ::signal(SIGCHLD, [](int) {
                          const int before = errno;
                          while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
                          errno = before;
                      });
                  return save(options);
              }) == 0);
        check_saved(options);
    }
}

// The sanitizers open pipes, which would get the descriptor numbers closed here.
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
TEST_CASE("standard descriptors that are closed: what is printed stands in no file") {
    for (const auto mode : {AgentMode::thread, AgentMode::process}) {
        CAPTURE(static_cast<int>(mode));
        const test::TempDirectory folder;
        const auto options = options_in(folder, mode);
        CHECK(test::in_child([&] {
                  for (const int fd : {0, 1, 2}) ::close(fd);
                  std::atomic<bool> stop = false;
                  std::jthread prints([&] {
                      while (!stop)
                          for (const int fd : {0, 1, 2}) (void)!::write(fd, "printed\n", 8);
                  });
                  const int saved = save(options, 500'000);
                  stop = true;
                  return saved;
              }) == 0);
        check_saved(options);
    }
}
#endif

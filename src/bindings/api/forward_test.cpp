// Goal: snapshots that drain through a forwarder are committed, with views and retention, in every mode. Whatever
// process is killed, sealed snapshots are committed afterwards: by the agents alone, by the next forwarder, or by
// `forebay drain`.
// Method: `forebay forward` as a process; the application is a forked process whose ranks are threads; SIGKILL.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <thread>

#include "core/forward/forwarded_store.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/private_file.hpp"
#include "support/free_address.hpp"
#include "support/mid_drain.hpp"
#include "support/processes.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::forebay_command;
using test::MidDrain;
using test::staged;
using test::wait_for_agents;
using test::wait_until;
using Rank = test::RowRank;

namespace {

constexpr int ranks = 3;
constexpr std::uint64_t slow = 1'000'000;  // bytes per second of each agent

class Forwarder {
public:
    Forwarder(const std::string& run, const std::string& token_file, const std::string& listen = "127.0.0.1:0") {
        std::array<int, 2> ends{};
        REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
        const auto program = test::forebay_program();
        pid_ = ::fork();
        if (pid_ == 0) {
            ::dup2(ends[1], 1);
            const int log = ::open((token_file + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
            ::dup2(log, 2);
            ::execlp(program.c_str(), "forebay", "forward", run.c_str(), "--listen", listen.c_str(), "--token-file",
                     token_file.c_str(), nullptr);
            ::_exit(127);
        }
        ::close(ends[1]);
        std::string line;
        for (char byte = 0; ::read(ends[0], &byte, 1) == 1 && byte != '\n';) line += byte;
        ::close(ends[0]);
        REQUIRE_MESSAGE(line.starts_with("Forwarder of " + run + ", at "), line);
        address_ = line.substr(line.rfind(' ') + 1);
    }
    Forwarder(const Forwarder&) = delete;
    Forwarder& operator=(const Forwarder&) = delete;
    ~Forwarder() {
        if (pid_ > 0) end(SIGKILL);
    }
    const std::string& address() const { return address_; }
    /// After SIGSTOP: waits until all of its threads are stopped.
    void tell(int signal) const {
        ::kill(pid_, signal);
        if (signal == SIGSTOP) REQUIRE(::waitpid(pid_, nullptr, WUNTRACED) == pid_);
    }
    int end(int signal) {
        int status = 0;
        ::kill(pid_, signal);
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return status;
    }

private:
    pid_t pid_ = -1;
    std::string address_;
};

struct Place {
    test::TempDirectory folder;
    std::string run = folder / "run", token_file = folder / "token";

    Options options(const std::vector<std::string>& to, std::uint64_t rate = 0) const {
        Options options{.run = run, .staging = folder.path()};
        options.virtual_nodes = 2;
        options.agent.rate_bytes_per_second = rate;
        options.agent.block_bytes = 1u << 16;
        options.agent.retries = 1;
        options.agent.retry_pause = 50ms;
        options.agent.forward_to = to;
        options.agent.forward_token_file = token_file;
        options.close_wait = 60s;
        options.open_wait = 60s;
        return options;
    }
    std::vector<std::int64_t> committed() const {
        if (!std::filesystem::exists(run + "/restart")) return {};  // nothing has arrived yet
        return test::committed_steps(run);
    }
    std::string log() const {
        std::string all;
        for (const auto& directory : node::staging_directories(folder.path()).value())
            all += test::text_in(directory + "/agent.log");
        return all;
    }
};

}  // namespace

TEST_CASE("agents that are processes or threads save, make views, keep the window and stop through a forwarder") {
    for (const auto mode : {AgentMode::process, AgentMode::thread}) {
        Place place;
        Forwarder forwarder(place.run, place.token_file);
        auto options = place.options({forwarder.address()});
        options.agent.mode = mode;
        std::string text;
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
            Rank here(std::move(world), options, {.keep = 2});
            for (std::int64_t step = 1; step <= 4; ++step) here.save(step).value();
            here.stream.wait_committed(60s).value();
            here.once([&] { text = place.log(); });
            here.once([&] { forebay_command("stop " + place.run); });
            CHECK(test::soon([&] { return here.session.job(false).value().stop; }));
            here.session.close().value();
        });
        CHECK(place.committed() == std::vector<std::int64_t>{4, 3});
        const bool has_hdf5 = test::forebay_run("view --help").text.find("not in this build") == std::string::npos;
        CHECK(std::filesystem::exists(place.run + "/restart/step-000004.h5") == has_hdf5);
        CHECK_FALSE(std::filesystem::exists(place.run + "/stop"));
        if (mode == AgentMode::process)
            CHECK_MESSAGE(text.find("writes through " + forwarder.address()) != text.npos, text);
        CHECK(staged(options).empty());
        CHECK(forwarder.end(SIGTERM) == 0);  // without clients it ends at once
    }
}

TEST_CASE("the token file is made closed to others, and one that is not is refused") {
    Place place;
    Forwarder forwarder(place.run, place.token_file);
    const auto mode = std::filesystem::status(place.token_file).permissions();
    CHECK(mode == (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    const auto open = [&](const Options& options) { return Session::open(options); };
    auto options = place.options({forwarder.address()});
    CHECK(open(options));
    std::filesystem::permissions(place.token_file, std::filesystem::perms::group_read,
                                 std::filesystem::perm_options::add);
    const auto refused = open(options);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text().find("gives other users access") != std::string::npos);
    options.open_wait = 500ms;
    options.agent.forward_token_file = place.folder / "none";
    const auto missing = open(options);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().kind == ErrorKind::missing);
    CHECK(missing.error().text().find("Next: start forebay forward first") != std::string::npos);
}

TEST_CASE("a session waits for forwarders that are still being started") {
    Place place;
    const auto address = test::free_address();
    { const Forwarder first(place.run, place.token_file, address); }  // it makes the token
    std::optional<Forwarder> later;
    std::jthread starter([&] {
        std::this_thread::sleep_for(1s);
        later.emplace(place.run, place.token_file, address);
    });
    auto session = Session::open(place.options({address})).value();
    session.close().value();
}

TEST_CASE("all ranks are killed while their step drains: the agents finish and commit through the forwarder") {
    Place place;
    Forwarder forwarder(place.run, place.token_file);
    const auto options = place.options({forwarder.address()}, slow);
    {
        const MidDrain application(ranks, options);
        CHECK(place.committed().empty());
    }
    wait_for_agents(options);
    CHECK(place.committed() == std::vector<std::int64_t>{5});
    forebay_command("drain all --staging " + place.folder.path());
    CHECK(staged(options).empty());
}

TEST_CASE("the forwarder is killed while a step drains: the next one stands in") {
    Place place;
    Forwarder first(place.run, place.token_file), second(place.run, place.token_file);
    const auto options = place.options({first.address(), second.address()}, slow);
    const MidDrain application(ranks, options);
    first.end(SIGKILL);
    CHECK(place.committed().empty());
    wait_until([&] { return place.committed() == std::vector<std::int64_t>{5}; });
}

TEST_CASE("the only forwarder is killed: the staged copies are named, and stay until another one has its address") {
    Place place;
    const auto address = test::free_address();
    auto first = std::optional<Forwarder>(std::in_place, place.run, place.token_file, address);
    const auto options = place.options({address}, slow);
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        Rank here(std::move(world), options, {.slots = 2});
        here.save(5).value();
        while (!here.session.draining()) std::this_thread::sleep_for(1ms);
        here.once([&] { first->end(SIGKILL); });
        Result<> outcome;
        CHECK(test::soon(
            [&] {
                outcome = here.stream.wait_committed(100ms);
                return !outcome && outcome.error().text().find("is NOT committed") != std::string::npos;
            },
            60s));
        CHECK_MESSAGE(outcome.error().text().find("the staged copy on " + sys::host_name()) != std::string::npos,
                      outcome.error().text());
        CHECK_MESSAGE(outcome.error().text().find("forebay drain ") != std::string::npos, outcome.error().text());
        CHECK_MESSAGE(outcome.error().text().find(address) != std::string::npos, outcome.error().text());
        here.once([&] { CHECK(place.committed().empty()); });
        here.once([&] { first.emplace(place.run, place.token_file, address); });
        // Rings the bell after the agents of both nodes have logged the result of step 5: the other agent may be
        // slower.
        CHECK(test::soon([&] { return here.save(6).has_value(); }));
        CHECK(test::soon([&] { return here.stream.wait_committed(1s).has_value(); }));
        here.session.close().value();
    });
    CHECK(place.committed() == std::vector<std::int64_t>{6, 5});
}

TEST_CASE("what was asked of a forwarder that is stopped does not come about when it goes on") {
    Place place;
    Forwarder forwarder(place.run, place.token_file);
    const auto token = sys::read_private(place.token_file).value().substr(0, 32);
    const auto store =
        forward::ForwardedStore::make(
            {.run = place.run, .to = {forwarder.address()}, .token = token, .connect_max = 10s, .silence_max = 3s})
            .value();
    store->make_directories(place.run + "/a").value();
    forwarder.tell(SIGSTOP);
    const auto lost = store->rename(place.run + "/a", place.run + "/b");
    REQUIRE_FALSE(lost);
    CHECK(lost.error().kind == ErrorKind::retry);
    CHECK(lost.error().text().find("was silent for 3000 ms") != std::string::npos);
    forwarder.tell(SIGCONT);
    CHECK(test::soon(
        [&] { return test::text_in(place.token_file + ".log").find("has disconnected") != std::string::npos; }));
    CHECK(std::filesystem::exists(place.run + "/a"));
    CHECK_FALSE(std::filesystem::exists(place.run + "/b"));
}

TEST_CASE("everything is killed: forebay drain commits what was sealed, by itself or through a new forwarder") {
    for (const bool through : {false, true}) {
        Place place;
        auto forwarder = std::optional<Forwarder>(std::in_place, place.run, place.token_file);
        const auto options = place.options({forwarder->address()}, slow);
        {
            const MidDrain application(ranks, options);
            test::kill_agents(options);
            forwarder->end(SIGKILL);
        }
        CHECK(place.committed().empty());
        std::string how;
        if (through) {
            forwarder.emplace(place.run, place.token_file);
            how = " --forward-to " + forwarder->address() + " --token-file " + place.token_file;
            forebay_command("drain all --staging " + place.folder.path() + " --forward-to " + forwarder->address(), 2);
        }
        const auto output = forebay_command("drain all --staging " + place.folder.path() + how);
        CHECK_MESSAGE(output.find("restart@5: committed") != std::string::npos, output);
        CHECK(place.committed() == std::vector<std::int64_t>{5});
        CHECK(staged(options).empty());
        CHECK(
            forebay_command("recover " + place.run + " --staging " + place.folder.path()).find("Nothing to recover") !=
            std::string::npos);
    }
}

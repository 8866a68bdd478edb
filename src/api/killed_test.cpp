// Goal: whoever is killed, and whenever: what was sealed is committed, by the agent alone, by the next agent, by the
// next session or by `forebay drain`; and a restart finds a whole snapshot, never an older one than was durable.
// Method: the application is a forked process whose ranks are threads; agents are processes, slowed by the rate limit;
// SIGKILL for the one, the other, or both.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "api/state.hpp"
#include "catalog/catalog.hpp"
#include "support/soon.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

constexpr int ranks = 3;
constexpr std::uint64_t elements = 50'000;  // 400 kB a rank
constexpr std::uint64_t slow = 1'000'000;   // bytes a second of each agent

Options options_in(const test::TempDirectory& folder, int nodes, std::uint64_t rate) {
    Options options{.run = folder / "run", .staging = folder.path()};
    options.virtual_nodes = nodes;
    options.agent.rate_bytes_per_second = rate;
    options.agent.block_bytes = 1u << 16;
    options.close_wait = 60s;
    return options;
}

// One rank: a row of an array, equal to the step everywhere.
struct Rank {
    Rank(std::unique_ptr<comm::Group> world, const Options& options, const StreamOptions& stream_options = {.keep = 0})
        : row(static_cast<std::uint64_t>(world->rank())),
          size(static_cast<std::uint64_t>(world->size())),
          data(elements),
          session(Session::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value()),
          stream(session.stream("restart", stream_options).value()) {
        stream.array("u", f64, {size, elements}, {packed({{row, 0}, {1, elements}}, data.data())}).value();
    }
    Saved save(std::int64_t step) {
        std::ranges::fill(data, static_cast<double>(step));
        return stream.save(step).value();
    }
    /// The step of the newest snapshot, -1 without any, -2 when its data are of another.
    std::int64_t restore() {
        auto found = stream.newest().value();
        if (!found) return -1;
        std::ranges::fill(data, -1.0);
        found->read().value();
        const auto right = [&](double value) { return value == static_cast<double>(found->step()); };
        return std::ranges::all_of(data, right) ? found->step() : -2;
    }
    std::uint64_t row, size;
    std::vector<double> data;
    Session session;
    Stream stream;
};

// A process that runs `body` and then waits to be killed. It tells numbers to its parent.
class Application {
public:
    using Tell = std::function<void(std::int64_t)>;
    explicit Application(const std::function<void(const Tell&)>& body) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            try {
                body([&](std::int64_t number) {
                    if (::write(ends[1], &number, sizeof(number)) != sizeof(number)) ::_exit(2);
                });
                for (;;) ::pause();
            } catch (const std::exception& thrown) {
                std::fprintf(stderr, "the application failed: %s\n", thrown.what());
                ::_exit(1);
            }
        }
        ::close(ends[1]);
        from_ = ends[0];
    }
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;
    ~Application() {
        kill();
        ::close(from_);
    }
    std::int64_t hear() const {
        std::int64_t number = -99;
        const auto got = ::read(from_, &number, sizeof(number));
        REQUIRE(got == sizeof(number));
        return number;
    }
    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

private:
    pid_t pid_ = -1;
    int from_ = -1;
};

std::vector<std::string> staged(const Options& options) { return stage::staging_directories(options.staging).value(); }

// "... agent 4711 serves ..." of the last agent that was started here.
pid_t agent_of(const std::string& directory) {
    std::ifstream log(directory + "/agent.log");
    pid_t last = -1;
    for (std::string line; std::getline(log, line);)
        if (const auto at = line.find(" agent "); at != std::string::npos && line.find(" serves ") != std::string::npos)
            last = static_cast<pid_t>(std::strtol(line.c_str() + at + 7, nullptr, 10));
    REQUIRE(last > 0);
    return last;
}

void wait_until(const std::function<bool()>& done) { REQUIRE(test::soon(done, 60s)); }

void kill_agents(const Options& options) {
    for (const auto& directory : staged(options)) {
        if (!sys::lock_is_held(stage::agent_lock_path(directory))) continue;
        ::kill(agent_of(directory), SIGKILL);
        wait_until([&] { return !sys::lock_is_held(stage::agent_lock_path(directory)); });
    }
}

void wait_for_agents(const Options& options) {
    for (const auto& directory : staged(options))
        wait_until([&] { return !sys::lock_is_held(stage::agent_lock_path(directory)); });
}

// What `forebay ARGUMENTS` prints; its exit code is checked.
std::string forebay_command(const std::string& arguments, int exit_code = 0) {
    const char* program = std::getenv("FOREBAY_AGENT");
    const auto beside = std::filesystem::path(sys::own_object_path()).parent_path().parent_path() / "bin" / "forebay";
    const auto command = (program != nullptr ? std::string(program) : beside.string()) + " " + arguments + " 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    for (int byte = std::fgetc(pipe); byte != EOF; byte = std::fgetc(pipe)) text += static_cast<char>(byte);
    const int status = ::pclose(pipe);
    CHECK_MESSAGE(WEXITSTATUS(status) == exit_code, text);
    return text;
}

std::vector<std::int64_t> committed(const Options& options) {
    std::vector<std::int64_t> steps;
    const auto all = catalog::snapshots(sys::posix_store(), options.run, "restart");
    if (!all) return steps;
    for (const auto& snapshot : *all) {
        steps.push_back(snapshot.step);
        const auto before = catalog::load_manifest(sys::posix_store(), snapshot.directory);
        const auto verified = catalog::verify(sys::posix_store(), snapshot, {});
        if (verified && verified->damage.empty()) continue;
        // An agent that still lives may have pruned it, or put a newer save of the step in its place, meanwhile.
        const auto now = catalog::load_manifest(sys::posix_store(), snapshot.directory);
        const auto why = verified ? verified->damage.front().text : verified.error().text;
        CHECK_MESSAGE((!now || !before || now->snapshot_id != before->snapshot_id), snapshot.directory, ": ", why);
    }
    return steps;
}

std::int64_t newest_committed(const Options& options) {
    const auto steps = committed(options);
    return steps.empty() ? -1 : steps.front();
}

// Saves one step and says so when every agent drains it.
void save_and_tell(const Options& options, const Application::Tell& tell) {
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        const auto own = world->split(0);
        Rank here(std::move(world), options);
        here.save(5);
        while (!here.session.draining()) std::this_thread::sleep_for(1ms);
        own->barrier();
        if (own->rank() == 0) tell(5);
        own->barrier();
        for (;;) ::pause();
    });
}

}  // namespace

TEST_CASE("all ranks are killed while their step drains: the agents finish and commit alone") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes, slow);
        {
            Application application([&](const auto& tell) { save_and_tell(options, tell); });
            application.hear();
            CHECK(committed(options).empty());
        }
        CHECK(committed(options).empty());
        wait_for_agents(options);
        CHECK(committed(options) == std::vector<std::int64_t>{5});
        const auto listing = forebay_command("ls --json " + options.run);
        CHECK_MESSAGE(listing.find("\"step\": 5") != std::string::npos, listing);
    }
}

TEST_CASE("the agent is killed while it drains: the next save starts another, which commits") {
    for (const auto policy : {Policy::wait, Policy::skip, Policy::newest_only}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, 1, slow);
        Rank here(comm::alone(), options, {.policy = policy, .keep = 0});
        here.save(1);
        wait_until([&] { return here.session.draining(); });
        kill_agents(options);
        CHECK(committed(options).empty());
        CHECK(here.save(2).kept == (policy == Policy::wait));
        here.stream.wait_committed(60s).value();
        CHECK(committed(options) ==
              (policy == Policy::wait ? std::vector<std::int64_t>{2, 1} : std::vector<std::int64_t>{1}));
        CHECK_FALSE(here.session.draining());
        here.session.close().value();
    }
}

TEST_CASE("skipping saves alone bring a killed agent back") {
    const test::TempDirectory folder;
    const auto options = options_in(folder, 1, slow);
    Rank here(comm::alone(), options, {.policy = Policy::skip, .keep = 0});
    here.save(1);
    wait_until([&] { return here.session.draining(); });
    kill_agents(options);
    std::int64_t step = 2;
    wait_until([&] { return here.save(step++).kept; });
    here.session.close().value();
    CHECK(committed(options) == std::vector<std::int64_t>{step - 1, 1});
}

TEST_CASE("the agents are killed while they drain: wait_committed and close bring others") {
    for (const bool closes : {false, true}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, 2, slow);
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
            const auto own = world->split(0);
            Rank here(std::move(world), options);
            here.save(1);
            while (!here.session.draining()) std::this_thread::sleep_for(1ms);
            own->barrier();
            if (own->rank() == 0) kill_agents(options);
            own->barrier();
            if (!closes) here.stream.wait_committed(60s).value();
            here.session.close().value();
        });
        CHECK(committed(options) == std::vector<std::int64_t>{1});
        CHECK(staged(options).empty());
    }
}

TEST_CASE("application and agents are killed: forebay drain commits what was sealed") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes, slow);
        {
            Application application([&](const auto& tell) { save_and_tell(options, tell); });
            application.hear();
            const auto in_use = forebay_command("drain " + staged(options).front(), 2);
            CHECK_MESSAGE(in_use.find("another session writes run") != std::string::npos, in_use);
        }
        kill_agents(options);
        CHECK(committed(options).empty());
        // A node's part alone is not a snapshot: exit code 1, and it stays staged.
        for (const auto& directory : staged(options)) {
            const bool last = directory == staged(options).back();
            const auto said = forebay_command("drain " + directory, last ? 0 : 1);
            CHECK_MESSAGE(said.find("restart@5") != std::string::npos, said);
        }
        CHECK(committed(options) == std::vector<std::int64_t>{5});
        const auto rest = forebay_command("drain all --staging " + folder.path());
        CHECK_MESSAGE(staged(options).empty(), rest);
    }
}

TEST_CASE("application and agents are killed: the next session commits what was sealed, and restarts from it") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        auto options = options_in(folder, nodes, slow);
        {
            Application application([&](const auto& tell) { save_and_tell(options, tell); });
            application.hear();
        }
        kill_agents(options);
        CHECK(committed(options).empty());
        options.agent.rate_bytes_per_second = 0;
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
            Rank here(std::move(world), options);
            CHECK(here.restore() == 5);
            here.session.close().value();
        });
        CHECK(committed(options) == std::vector<std::int64_t>{5});
        CHECK(staged(options).empty());
    }
}

TEST_CASE("killed again and again at any moment: each restart finds a whole step, none older than was durable") {
    const auto seed = std::getenv("FOREBAY_SEED") != nullptr ? std::strtoull(std::getenv("FOREBAY_SEED"), nullptr, 10)
                                                             : sys::random_u64() % 1'000'000;
    CAPTURE(seed);
    std::cout << "FOREBAY_SEED=" << seed << "\n";
    auto random = seed;
    const auto next = [&](std::uint64_t below) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        return (random >> 33) % below;
    };
    const test::TempDirectory folder;
    std::int64_t durable = -1;
    for (int life = 0; life < 10; ++life) {
        CAPTURE(life);
        const auto options = options_in(folder, 1 + static_cast<int>(next(2)), 20'000'000);
        const StreamOptions stream_options{.slots = 1 + static_cast<int>(next(2)), .keep = 2};
        Application application([&](const auto& tell) {
            test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
                Rank here(std::move(world), options, stream_options);
                const auto step = here.restore();
                if (here.row == 0) tell(step);
                if (step == -2) throw std::runtime_error("a restart gave data of another step");
                for (auto now = step + 1;; ++now) here.save(now);
            });
        });
        const auto found = application.hear();
        CHECK(found >= durable);
        std::this_thread::sleep_for(std::chrono::milliseconds(next(400)));
        const bool agents_first = next(3) == 0;
        if (agents_first) kill_agents(options);
        application.kill();
        durable = std::max(durable, newest_committed(options));
        CHECK(durable >= -1);
        if (next(3) == 0) kill_agents(options);
    }
    CHECK(durable > 0);
}

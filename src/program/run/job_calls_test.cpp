// Goal: `forebay job` takes calls of its keepers alone. Other callers get no channel and hold nobody up.
// Method: keepers and strangers call over the loopback of this machine.

#include "program/run/job_calls.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/bytes.hpp"
#include "core/sys/environment.hpp"
#include "core/sys/private_file.hpp"
#include "support/soon.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::cli;
using namespace std::chrono_literals;

namespace {

struct Home {
    test::TempDirectory folder;
    std::string before = sys::environment_value("HOME");
    Home() { ::setenv("HOME", folder.path().c_str(), 1); }
    ~Home() { ::setenv("HOME", before.c_str(), 1); }
};

std::string text_from(sys::Channel& channel) {
    std::vector<std::byte> bytes;
    test::soon([&] { return !channel.take(bytes) || !bytes.empty(); });
    std::string text;
    for (const auto byte : bytes) text += static_cast<char>(byte);
    return text;
}

}  // namespace

TEST_CASE("a keeper with the token gets a channel in both directions") {
    const Home home;
    auto calls = KeeperCalls::open("77-test").value();
    auto keeper = call_job(calls.addresses(), calls.token_path()).value();
    std::optional<sys::Channel> job;
    REQUIRE(test::soon([&] {
        if (auto call = calls.next()) job.emplace(std::move(*call));
        return job.has_value();
    }));
    keeper.put(bytes_of("keeper n1 ready\n"));
    REQUIRE(keeper.flush());
    CHECK(text_from(*job) == "keeper n1 ready\n");
    job->put(bytes_of("end 3\n"));
    REQUIRE(job->flush());
    CHECK(text_from(keeper) == "end 3\n");
}

TEST_CASE("strangers get no channel, and the next keeper is heard") {
    const Home home;
    auto calls = KeeperCalls::open("77-test").value();
    const auto first = calls.addresses().substr(0, calls.addresses().find(','));
    const auto silent = sys::Connection::open(first, 10s).value();
    auto stranger = sys::Connection::open(first, 10s).value();
    REQUIRE(stranger.send(bytes_of(std::string(32, '0') + "\n"), 10s));
    CHECK(test::soon([&] {
        CHECK_FALSE(calls.next().has_value());
        return stranger.other_has_left();
    }));
    CHECK_FALSE(silent.other_has_left());
    const auto keeper = call_job(calls.addresses(), calls.token_path()).value();
    CHECK(test::soon([&] { return calls.next().has_value(); }));
}

TEST_CASE("the token is in a private file, which goes with its owner") {
    const Home home;
    std::string path;
    {
        const auto calls = KeeperCalls::open("77-test").value();
        path = calls.token_path();
        CHECK(sys::read_private(path).value().size() == 33);
    }
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK_FALSE(call_job("127.0.0.1:1", path));
}

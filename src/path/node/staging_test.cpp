// Goal: an agent obeys only a session's own orders: session.json is read as it was written, and a damaged session.json
// or control page leads nowhere else. An agent that starts late sees the page of the living session.
// Method: edited texts and pages; a process that takes the lock of agents whenever it is free.

#include "path/node/staging.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "path/node/analysis_rules.hpp"
#include "support/option_changes.hpp"
#include "support/ordinary_user.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::node;

namespace {

SessionFile sample() {
    SessionFile session{.run = "/scratch/run7", .run_id = 0xf300c0ffee9a, .host = "nid00412", .process = 4711};
    session.agent.environment = {{"LD_PRELOAD", "/usr/lib64/libpil4dfs.so"}, {"EMPTY", ""}};
    session.agent.cpus = "0-3,8";
    session.agent.in_flight = 2;
    session.agent.rate_bytes_per_second = UINT64_MAX;
    session.agent.slowdown_percent_max = 2.5;
    session.agent.linger = std::chrono::milliseconds(7'000);
    session.agent.metrics_directory = "/metrics";
    session.agent.retry_pause = std::chrono::milliseconds(1500);
    return session;
}

std::string replaced(std::string text, const std::string& old, const std::string& with) {
    const auto at = text.find(old);
    REQUIRE(at != text.npos);
    return text.replace(at, old.size(), with);
}

}  // namespace

TEST_CASE("session.json comes back as it was given") {
    const auto text = encode_session(sample()).value();
    const auto session = decode_session(text, "session.json").value();
    CHECK(session.run == "/scratch/run7");
    CHECK(session.run_id == 0xf300c0ffee9a);
    CHECK(session.process == 4711);
    CHECK(session.agent.environment == sample().agent.environment);
    CHECK(session.agent.rate_bytes_per_second == UINT64_MAX);
    CHECK(session.agent.retry_pause.count() == 1500);
    CHECK(session.agent.slowdown_percent_max == 2.5);
    CHECK(session.agent.linger.count() == 7'000);
    CHECK(session.agent.metrics_directory == "/metrics");
    CHECK(encode_session(session).value() == text);
}

TEST_CASE("session.json has every option that its line says, and no other; an older file gives those of before") {
    const SessionFile defaults{.run = "/scratch/run7", .host = "nid1"};
    auto session = defaults;
    describe::each_option(session.agent, [](const describe::SessionOption& option, const auto& values, auto& value) {
        if (option.in_file != describe::InSessionFile::no) test::ChangeOption{}(option, values, value);
    });
    const auto text = encode_session(session).value();
    const auto was = test::texts_of(defaults.agent), is = test::texts_of(session.agent),
               back = test::texts_of(decode_session(text, "session.json").value().agent);
    REQUIRE(back.size() == is.size());
    for (std::size_t i = 0; i < is.size(); ++i) {
        CAPTURE(is[i].key);
        const bool in_file = is[i].option.in_file != describe::InSessionFile::no;
        CHECK(back[i].value == is[i].value);
        CHECK((back[i].value != was[i].value) == in_file);
        const auto key = "\n  \"" + is[i].key.substr(0, is[i].key.find("_seconds")) +
                         (is[i].key.ends_with("_seconds") ? "_ms\":" : "\":");
        CHECK((text.find(key) != std::string::npos) == in_file);
        if (!in_file) continue;
        const auto older = decode_session(replaced(text, key, "\n  \"other\":"), "session.json");
        CHECK(older.has_value() == (is[i].option.in_file == describe::InSessionFile::later));
        if (!older) continue;
        const auto value = test::texts_of(older->agent)[i].value;
        CHECK_MESSAGE((value == "0" || value == "false" || value == "\"\""), value);
    }
}

TEST_CASE("session.json: forwarders come back, and half of what they need is corrupt") {
    auto session = sample();
    session.forwarding = {.to = {"10.0.0.7:4711,192.0.2.7:4711", "[2001:db8::8]:4711"}, .token = std::string(32, 'a')};
    const auto text = encode_session(session).value();
    CHECK(decode_session(text, "session.json").value().forwarding == session.forwarding);
    CHECK(decode_session(encode_session(sample()).value(), "session.json").value().forwarding == Forwarding{});
    for (const auto& change :
         {std::pair{"\"forward_token\"", "\"token\""}, std::pair{"aaaaaaaa\"", "aaaaaaaA\""},
          std::pair{"aaaaaaaa\"", "aaaaaaa\""}, std::pair{"\"[2001:db8::8]:4711\"", "\"\""},
          std::pair{"\"[2001:db8::8]:4711\"", "7"}, std::pair{"\"forward_to\"", "\"forwarders\""}}) {
        const auto* const with = change.second;
        CAPTURE(with);
        const auto damaged = decode_session(replaced(text, change.first, with), "session.json");
        REQUIRE_FALSE(damaged);
        CHECK(damaged.error().kind == ErrorKind::corrupt);
    }
    session.forwarding.token.pop_back();
    CHECK(encode_session(session).error().kind == ErrorKind::refused);
}

TEST_CASE("session.json: what a session cannot have written is corrupt") {
    const auto text = encode_session(sample()).value();
    const auto corrupt = [&](const std::string& old, const std::string& with) {
        CAPTURE(with);
        const auto session = decode_session(replaced(text, old, with), "session.json");
        REQUIRE(!session);
        CHECK(session.error().kind == ErrorKind::corrupt);
    };
    corrupt("{", "");
    corrupt("\"block_bytes\": 16777216", "\"block_bytes\": 0");
    corrupt("\"block_bytes\": 16777216", "\"block_bytes\": -4096");
    corrupt("\"in_flight\": 2", "\"in_flight\": 4294967298");
    corrupt("\"in_flight\": 2", "\"in_flight\": 2.5");
    corrupt("\"retries\": 5", "\"retries\": -1");
    corrupt("\"retry_pause_ms\": 1500", "\"retry_pause_ms\": 9223372036854775807");
    corrupt("\"direct\": true", "\"direct\": 1");
    corrupt("\"direct_is_chosen\": false", "\"direct_is_chosen\": 1");
    corrupt("\"/scratch/run7\"", "\"run7\"");
    corrupt("\"/scratch/run7\"", "\"/scratch\\u0000/run7\"");
    corrupt("\"host\"", "\"hosts\"");
    corrupt("0000f300c0ffee9a", "0000f300c0ffee9");
    corrupt("0000f300c0ffee9a", "0000f300c0ffee9g");
    CHECK(decode_session(replaced(text, "\"version\": 2", "\"version\": 3"), "session.json").error().kind ==
          ErrorKind::unsupported);
}

TEST_CASE("session.json: what could not be read again is refused before it is written") {
    auto session = sample();
    session.run = "/scratch/run\xe9";  // Latin-1
    CHECK(encode_session(session).error().kind == ErrorKind::refused);
    session = sample();
    session.agent.environment.emplace_back("A=B", "C");
    CHECK(encode_session(session).error().kind == ErrorKind::refused);
    session = sample();
    session.agent.retry_pause = std::chrono::milliseconds::max();
    CHECK(encode_session(session).error().kind == ErrorKind::refused);
}

TEST_CASE("a damaged control page is refused, and a new session replaces it") {
    const test::TempDirectory place;
    const auto directory = place / "session";
    const auto damaged = [&](const char* what, const std::function<void(Control&)>& damage) {
        CAPTURE(what);
        auto staging = Staging::create(LockedDirectory::lock(directory, "run").value(), sample(), {}).value();
        staging.add_stream("restart", {}).value();
        REQUIRE(Staging::join(directory));
        damage(staging.control());
        return Staging::join(directory).error().kind;
    };
    CHECK(damaged("magic", [](Control& page) { page.magic = 0; }) == ErrorKind::unsupported);
    CHECK(damaged("version", [](Control& page) { ++page.version; }) == ErrorKind::unsupported);
    CHECK(damaged("streams", [](Control& page) { page.stream_count = streams_max + 1; }) == ErrorKind::corrupt);
    CHECK(damaged("slots", [](Control& page) { page.slot_count = slots_max + 1; }) == ErrorKind::corrupt);
    CHECK(damaged("path", [](Control& page) { set_text(page.streams[0].name, "../x"); }) == ErrorKind::corrupt);
    CHECK(damaged("endless", [](Control& page) { page.streams[0].name.fill('x'); }) == ErrorKind::corrupt);
    CHECK(damaged("insitu", [](Control& page) { page.streams[0].insitu.fill('x'); }) == ErrorKind::corrupt);
    CHECK(damaged("stream", [](Control& page) { page.slots[0].stream = 1; }) == ErrorKind::corrupt);
    CHECK(damaged("number", [](Control& page) { page.slots[0].number = 2; }) == ErrorKind::corrupt);
    CHECK(damaged("state", [](Control& page) { page.slots[0].state = SlotState{7}; }) == ErrorKind::corrupt);
    CHECK(damaged("kind", [](Control& page) { page.slots[0].error_kind = 8; }) == ErrorKind::corrupt);
    CHECK(damaged("text", [](Control& page) { page.slots[0].error_text.fill('x'); }) == ErrorKind::corrupt);
    CHECK(Staging::create(LockedDirectory::lock(directory, "run").value(), sample(), {}));

    std::filesystem::resize_file(directory + "/control", 4096);
    CHECK(Staging::join(directory).error().kind == ErrorKind::corrupt);
}

TEST_CASE("as many streams as a session may have can be taken over, with both slots of each, and opened again") {
    const test::TempDirectory folder;
    auto staging = node::Staging::create(node::LockedDirectory::lock(folder / "staging", "/run").value(),
                                         {.run = "/run", .host = "here", .process = 1}, std::chrono::milliseconds(0))
                       .value();
    for (std::uint32_t i = 0; i < node::streams_max; ++i) {
        staging.add_stream(fmt::format("s{}", i), {.slots = 1}).value();  // for the first staged file of the stream
        staging.add_stream(fmt::format("s{}", i), {.slots = 2}).value();  // for the second
    }
    CHECK(staging.add_stream("s3", {.slots = 2}).value() == 3);
    CHECK(staging.control().slot_count.load() == node::slots_max);
    CHECK(staging.add_stream("more", {.slots = 1}).error().kind == ErrorKind::full);
}

TEST_CASE("a stream's analyses are on the control page, and what has no room there is no stream") {
    const test::TempDirectory folder;
    auto staging = node::Staging::create(node::LockedDirectory::lock(folder / "staging", "/run").value(),
                                         {.run = "/run", .host = "here", .process = 1}, std::chrono::milliseconds(0))
                       .value();
    const Analysis mean{.name = "mean", .variables = {"gas/*"}};
    const auto stream = staging.add_stream("s", {.insitu = {mean}}).value();
    CHECK(node::decode_analyses(staging.control().streams[stream].insitu.data()).value().at(0).name == "mean");
    const auto refused = staging.add_stream("t", {.insitu = std::vector<Analysis>(1000, mean)});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text().find("the analyses of stream 't' need ") != std::string::npos);
    CHECK(staging.control().stream_count.load() == 1);
    staging.add_stream("s", {}).value();
    CHECK(staging.control().streams[stream].insitu[0] == '\0');
}

TEST_CASE("staged files that are closed are an error with their path and the way out; emptied ones are listed") {
    const auto output = test::told_by_ordinary_user([]() -> std::string {
        const test::TempDirectory folder;
        const auto directory = folder / "staging", file = directory + "/restart.0.h5";
        std::filesystem::create_directory(directory);
        const auto fill = [&](std::size_t bytes) { std::ofstream(file, std::ios::trunc) << std::string(bytes, 'x'); };
        fill(0);
        if (emptied_files(directory) != std::vector{file}) return "it is not listed";
        fill(20'000);
        if (!emptied_files(directory).empty()) return "it is listed";
        const auto error_of = [&](const std::string& closed) {
            std::filesystem::permissions(closed, std::filesystem::perms::none);
            const auto files = staged_files(directory);
            std::filesystem::permissions(closed, std::filesystem::perms::owner_all);
            return files ? std::string("none") : files.error().text();
        };
        for (const auto& closed : {file, directory}) {
            const auto text = error_of(closed);
            for (const auto& part : {closed, std::string("Safe: "), "chmod -R u+rwX " + directory})
                if (text.find(part) == text.npos) return text;
        }
        return "right";
    });
    CHECK(output == "right");
}

TEST_CASE("an agent of another version is asked to leave") {
    const test::TempDirectory folder;
    auto staging = node::Staging::create(node::LockedDirectory::lock(folder / "staging", "/run").value(),
                                         {.run = "/run", .host = "here", .process = 1}, std::chrono::milliseconds(0))
                       .value();
    const auto agent = sys::FileLock::take(node::agent_lock_path(staging.directory())).value();
    staging.control().version = node::control_version - 1;
    node::end_agent(staging.directory());
    CHECK(staging.control().ending.load() == 1);
    CHECK(staging.control().bell.load() == 1);
}

TEST_CASE("an agent that starts while a new session takes over serves the page of that session") {
    const test::TempDirectory folder;
    const auto directory = folder / "staging";
    const auto take = [&] {
        return node::Staging::create(node::LockedDirectory::lock(directory, "/run").value(),
                                     {.run = "/run", .host = "here", .process = 1}, std::chrono::seconds(10))
            .value();
    };
    constexpr std::uint32_t served = 77;
    // As an agent enters: the lock, then the page.
    const auto late_agents = [&] {
        for (;;) {
            auto lock = sys::FileLock::take(node::agent_lock_path(directory));
            if (!lock) continue;
            auto staging = node::Staging::join(directory);
            if (!staging) continue;
            staging->control().nodes = served;
            while (staging->control().ending.load() == 0) std::this_thread::yield();
        }
    };
    take();
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) late_agents();
    for (int round = 0; round < 200; ++round) {
        const auto staging = take();
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (staging.control().nodes.load() != served && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        CHECK(staging.control().nodes.load() == served);
        if (staging.control().nodes.load() != served) break;
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

// Goal: a site's file changes only the keys it names; misspelled keys are refused with their line.
// Method: files by hand; questions and answers of nodes encoded and decoded, answers within 1,024 bytes.

#include "insight/advice/preflight/rules.hpp"

#include <doctest/doctest.h>

#include "insight/advice/preflight/ask.hpp"

using namespace forebay;
using namespace forebay::advice;
using format::Severity;

TEST_CASE("a site's file") {
    const auto rules = Rules::parse(
        "[memory]\nseverity = \"warn\"\nwarn = 0.1\n[mounts]\ndeadline_seconds = 2\n[clock]\nseverity = \"off\"\n",
        "p");
    REQUIRE(rules);
    CHECK(rules->of(CheckKind::memory).most == Severity::warn);
    CHECK(rules->of(CheckKind::memory).warn == 0.1);
    CHECK(rules->of(CheckKind::mounts).deadline == std::chrono::seconds(2));
    CHECK(rules->of(CheckKind::node_speed).warn == Rules().of(CheckKind::node_speed).warn);
    std::vector<format::Finding> findings;
    rules->add(findings, CheckKind::memory, {.severity = Severity::fail, .text = "a"});
    rules->add(findings, CheckKind::clock, {.severity = Severity::fail, .text = "b"});
    REQUIRE(findings.size() == 1);
    CHECK((findings[0].check == "memory" && findings[0].severity == Severity::warn));
    CHECK(Rules::parse("", "p"));
}

TEST_CASE("what a site's file may not have") {
    for (const char* text :
         {"[memroy]\n", "memory = 1\n", "[memory]\nwarm = 1\n", "[memory]\nwarn = -1\n", "[memory]\nwarn = \"x\"\n",
          "[mounts]\nwarn = 1\n", "[memory]\nseverity = \"bad\"\n", "[mounts]\ndeadline_seconds = 0\n", "[memory\n",
          "[mounts]\ndeadline_seconds = inf\n", "[memory]\ndeadline_seconds = 5\n", "[target-speed]\nfail = 1.5\n",
          "[staging]\nfail = 0.1\n", "[targets]\nwarn = 85\n", "[metadata]\nwarn = 0.5\n", "[budget]\nfail = 2\n",
          "[targets]\nwarn = 0.9\nfail = 0.5\n", "[node-speed]\nwarn = 0.3\n", "[clock]\nwarn = 2\n"}) {
        const auto rules = Rules::parse(text, "site.toml");
        REQUIRE_MESSAGE(!rules, text);
        CHECK(rules.error().kind == ErrorKind::refused);
        CHECK_MESSAGE(rules.error().what.find("site.toml, line ") == 0, rules.error().what);
    }
}

TEST_CASE("questions and answers, there and back") {
    Question question{.number = 7, .task = Task::check, .path = "/a", .bytes = 5, .deadline_ms = 100, .ranks = "0-3"};
    question.needs = {"/dev/shm", "/scratch", 1, 2, 3, 4, "/bin/app"};
    question.rules.of(CheckKind::memory).warn = 0.25;
    const auto asked = decode_question(encode(question));
    REQUIRE(asked);
    CHECK((asked->number == 7 && asked->needs.slots == 3 && asked->needs.binary == "/bin/app"));
    CHECK(asked->rules.of(CheckKind::memory).warn == 0.25);
    const NodeAnswer answer{
        .number = 7, .host = "nid1", .numbers = {1.5, 9007199254740991.0}, .failed = "no", .hangs = true};
    const auto heard = decode_answer(encode(answer));
    REQUIRE(heard);
    CHECK((heard->host == "nid1" && heard->numbers == answer.numbers && heard->failed == "no" && heard->hangs));
    for (const char* none : {"", "[]", "{\"n\":1}", "{\"n\":-1,\"h\":\"a\"}", "{\"n\":1,\"h\":\"a\",\"v\":[\"x\"]}"})
        CHECK_MESSAGE(!decode_answer(none), none);
}

TEST_CASE("an answer has at most 1,024 bytes, and keeps its worst findings") {
    NodeAnswer answer{.number = 1, .host = "x4305c3s5b0n0", .numbers = {1e10, 2e10, 3e15, 4e15, 5e15}};
    for (int i = 0; i < 40; ++i)
        answer.findings.push_back({.check = "staging", .severity = Severity::warn, .text = std::string(100, 'a')});
    answer.findings.push_back({.check = "memory", .severity = Severity::fail, .text = "46.1 GB free, need 51.4 GB"});
    const auto line = encode(answer);
    CHECK(line.size() <= answer_bytes_max);
    const auto heard = decode_answer(line);
    REQUIRE(heard);
    REQUIRE(heard->findings.size() >= 2);
    CHECK(heard->findings.front().text == "46.1 GB free, need 51.4 GB");
    CHECK(heard->findings.back().text.ends_with(" more"));
    CHECK(heard->findings.back().check == "staging");
    // The mildest finding goes before the worst is cut. A cut text ends with a mark.
    const std::string text = "46.1 GB free, need 51.4 GB: 9.8 GB in /dev/shm left by ann (checkpoint.NVRAM, 3 h old)";
    answer.findings = {{.check = "staging", .text = std::string(900, 'a')},
                       {.check = "memory", .severity = Severity::fail, .text = text}};
    CHECK(decode_answer(encode(answer))->findings.front().text == text);
    answer.findings = {{.check = "memory", .severity = Severity::fail, .text = std::string(2000, 'a')}};
    CHECK(decode_answer(encode(answer))->findings.front().text.ends_with("…"));
    answer.host = std::string(1000, '\"');
    CHECK(encode(answer).size() <= answer_bytes_max);
}

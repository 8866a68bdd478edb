// Goal: without a log of the application nothing is printed, unless the configuration or the environment asks for it.
// Then the lines go to standard error, only of rank 0.
// Method: standard error is a file while a session of three ranks lives.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "support/printed_by.hpp"
#include "support/sessions.hpp"

using namespace forebay;
using test::options_in;

TEST_CASE("where the lines of a session go") {
    const test::TempDirectory folder;
    const auto printed = [&](const char* wish, bool to_stderr, std::vector<std::string>* own) {
        if (wish != nullptr) ::setenv("FOREBAY_LOG", wish, 1);
        else ::unsetenv("FOREBAY_LOG");
        auto options = options_in(folder, 1);
        options.log_to_stderr = to_stderr;
        if (own != nullptr) options.log = [own](const std::string& line) { own->push_back(line); };
        return test::printed_by([&] { test::with_session(3, options, [](Session&, comm::Group&) {}); },
                                folder / "stderr");
    };
    const auto line = "forebay: run " + (folder / "run") + ", session ";
    const std::string threads = "one thread of each rank copies: ";
    const auto rest = ", 3 ranks on 1 node, staged in ";
    CHECK(printed(nullptr, false, nullptr) == "");
    CHECK(printed("", false, nullptr) == "");
    CHECK(printed("0", false, nullptr) == "");
    for (const auto& text :
         {printed("1", false, nullptr), printed(nullptr, true, nullptr), printed("0", true, nullptr)}) {
        CHECK_MESSAGE(text.starts_with(line), text);
        CHECK_MESSAGE(text.find(rest) != text.npos, text);
        CHECK_MESSAGE(text.find("\nforebay: " + threads) != text.npos, text);
        CHECK(std::ranges::count(text, '\n') == 2);
    }
    std::vector<std::string> lines;
    CHECK(printed("1", true, &lines) == "");
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].starts_with(line));
    CHECK(lines[1].find(threads) != std::string::npos);
}

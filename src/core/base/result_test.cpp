// Goal: an error has one layout for all its parts, and reads back from its text unchanged.
// Method: texts and lines of all combinations of parts, with full stops and without; the way through a C application.

#include "forebay/result.hpp"

#include <doctest/doctest.h>

#include "core/base/attempt.hpp"
#include "core/base/error_text.hpp"

using namespace forebay;

namespace {

constexpr auto full = ErrorKind::full;

}  // namespace

TEST_CASE("text: a line a part, each sentence with one full stop, a command with none") {
    CHECK(Error{full, "no room"}.text() == "forebay: no room");
    CHECK(Error{full, "no room."}.text() == "forebay: no room.");
    CHECK(Error{full, "no room", "step 3"}.text() == "forebay: no room.\n  Safe: step 3.");
    CHECK(Error{full, "no room.", "step 3."}.text() == "forebay: no room.\n  Safe: step 3.");
    CHECK(Error{full, "no room", "", "forebay prune run7"}.text() == "forebay: no room.\n  Next: forebay prune run7");
    CHECK(Error{full, "is it full?", "step 3", "make room."}.text() ==
          "forebay: is it full?\n  Safe: step 3.\n  Next: make room.");
}

TEST_CASE("line: the same on one line, without the program") {
    CHECK(Error{full, "no room"}.line() == "no room");
    CHECK(Error{full, "no room", "step 3"}.line() == "no room. Safe: step 3.");
    CHECK(Error{full, "no room", "", "forebay prune run7"}.line() == "no room. Next: forebay prune run7");
    CHECK(Error{full, "no room", "step 3", "make room."}.line() == "no room. Safe: step 3. Next: make room.");
    CHECK(note_line("a view stays", "rm a.h5") == "a view stays. Next: rm a.h5");
}

TEST_CASE("because: one Safe and one Next, those of the caller where it has any") {
    const Error inner{full, "no room", "step 3", "make room."};
    const auto kept = with_context(inner, "step 4 is not committed: " + inner.what);
    CHECK(kept.kind == full);
    CHECK(kept.text() == "forebay: step 4 is not committed: no room.\n  Safe: step 3.\n  Next: make room.");
    const auto better = with_context(inner, "step 4: " + inner.what, "steps 1 to 3", "forebay prune run7");
    CHECK(better.text() == "forebay: step 4: no room.\n  Safe: steps 1 to 3.\n  Next: forebay prune run7");
    CHECK(with_context(inner, "x", "", "other").safe == "step 3");
    CHECK(with_context(inner, "x", "other").next == "make room.");
}

TEST_CASE("an Exception says the text, and is taken back as the Error that it was") {
    const Error thrown{ErrorKind::corrupt, "bad", "the rest", "read on"};
    CHECK(std::string(Exception(thrown).what()) == thrown.text());
    const auto back = attempt([&] { throw Exception(thrown); });
    REQUIRE_FALSE(back);
    CHECK(back.error().kind == ErrorKind::corrupt);
    CHECK(back.error().text() == thrown.text());
}

TEST_CASE("error_of_text: what a C application gives back says forebay once, its own text stays whole") {
    for (const auto& error : {Error{full, "a"}, Error{full, "a", "b"}, Error{full, "a", "", "c"},
                              Error{full, "a\n  with a line", "b", "c"}, Error{full, "a\n  Next: it says", "b", "c"}}) {
        const auto back = error_of_text(error.kind, error.text());
        CHECK(back.text() == error.text());
        CHECK(back.next == error.next);
        CHECK(back.kind == full);
    }
    CHECK(error_of_text(full, "Safe: is my own text").what == "Safe: is my own text");
    CHECK(error_of_text(full, "").what.empty());
}

// Goal: every option of a session, of its agents and of its job is read from its key in its table. A value of another
// type is refused, with that key.
// Method: a configuration that sets each option of the list to another value than its default.

#include "bindings/api/option_reader.hpp"

#include <doctest/doctest.h>

#include "bindings/api/state.hpp"
#include "support/option_changes.hpp"

using namespace forebay;

TEST_CASE("every option of the list is read from its key in its table") {
    const Options defaults;
    auto changed = defaults;
    describe::each_option(changed, test::ChangeOption{});
    const auto was = test::texts_of(defaults), is = test::texts_of(changed);
    std::string text;
    for (const auto& line : is) text += line.key + " = " + line.value + "\n";
    Options options;
    read_over(text, "every.toml", options).value();
    const auto read = test::texts_of(options);
    REQUIRE(read.size() == is.size());
    for (std::size_t i = 0; i < is.size(); ++i) {
        CAPTURE(is[i].key);
        CHECK(read[i].value == is[i].value);
        CHECK(read[i].value != was[i].value);
        Options none;
        const auto refused = read_over(is[i].key + " = [[]]\n", "wrong.toml", none);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::refused);
        CHECK(refused.error().what.find("'" + is[i].key + "'") != std::string::npos);
    }
}

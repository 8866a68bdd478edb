// Goal: a written journal is read back, and no other text is accepted as a journal.

#include <doctest/doctest.h>

#include "core/move/journal.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using move::Journal;

TEST_CASE("written and read alike; absent means nothing is durable") {
    test::SimStore disk;
    const Journal journal{0x00f30000c0ffee9a, 123'456'789'012};
    CHECK(move::load_journal(disk, "out.journal", 5).value() == Journal{5, 0});
    REQUIRE(move::store_journal(disk, "out.journal", journal));
    CHECK(move::load_journal(disk, "out.journal", journal.identity).value() == journal);
    CHECK(move::load_journal(disk, "out.journal", 6).error().kind == ErrorKind::corrupt);
}

TEST_CASE("every changed, missing or added byte is refused, or another journal") {
    const Journal journal{0xabcdef0123456789, 4096};
    const auto text = move::text_of(journal);
    REQUIRE(move::journal_from(text).value() == journal);
    for (std::size_t at = 0; at < text.size(); ++at) {
        auto changed = text;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        const auto parsed = move::journal_from(changed);
        CAPTURE(at);
        CHECK((!parsed || *parsed != journal));
        CHECK_FALSE(move::journal_from(text.substr(0, at)));
    }
    for (const auto* added : {"x", "\n", "durable 5\n"}) CHECK_FALSE(move::journal_from(text + added));
    CHECK_FALSE(move::journal_from("forebay export journal 1\nidentity 1\ndurable -5\n"));
}

TEST_CASE("the parts of several processes have journals of their own") {
    CHECK(move::journal_path("out.h5.part-1", 0, 1) == "out.h5.part-1.journal");
    CHECK(move::journal_path("out.h5.part-1", 2, 3) == "out.h5.part-1.journal-2-of-3");
}

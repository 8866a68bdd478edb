// Goal: if a replicated value differs between ranks in a single bit, each save finds it and is refused on every rank,
// with its name, the values and the ranks. If ranks may differ, all get rank 0's value back.
// Method: threads as ranks on one node and on several; one rank has another value, then it is corrected.

#include <doctest/doctest.h>

#include <bit>
#include <complex>
#include <cstring>

#include "support/refused.hpp"
#include "support/sessions.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::check_refused, test::committed, test::options_in, test::with_session;

namespace {

constexpr int ranks = 4;
constexpr int odd_one = 2;

template <class T>
std::vector<std::byte> bytes_of_value(T value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

std::vector<std::byte> bytes_of_text(std::string text, std::size_t size) {
    text.resize(size);
    std::vector<std::byte> bytes(size);
    std::memcpy(bytes.data(), text.data(), size);
    return bytes;
}

// A wrong value of one rank, the right value of the other ranks, and the error's text about it.
struct Difference {
    Type type;
    Extents shape;
    std::vector<std::byte> right, odd;
    std::string says;
};

std::vector<Difference> differences() {
    std::vector<std::byte> row(300 * 8), other = row;
    std::memcpy(other.data() + 250 * 8, bytes_of_value(7.5).data(), 8);
    return {
        {f64, {}, bytes_of_value(0.5), bytes_of_value(0.25), "0.5 on rank 0, 0.25 on rank 2"},
        {f64, {}, bytes_of_value(0.0), bytes_of_value(-0.0), "0 on rank 0, -0 on rank 2"},
        {f64,
         {},
         bytes_of_value(std::bit_cast<double>(0x7ff8000000000000ull)),
         bytes_of_value(std::bit_cast<double>(0x7ff8000000000001ull)),
         "nan (bytes 00"},
        {f32, {}, bytes_of_value(0.1F), bytes_of_value(0.2F), "0.1 on rank 0, 0.2 on rank 2"},
        {f16, {}, bytes_of_value<std::uint16_t>(0x3c00), bytes_of_value<std::uint16_t>(1), "0x3c00 on rank 0, 0x0001"},
        {c64,
         {},
         bytes_of_value(std::complex<float>(1.5F, -2)),
         bytes_of_value(std::complex<float>()),
         "(1.5, -2) on rank 0, (0, 0) on rank 2"},
        {i8, {}, bytes_of_value<std::int8_t>(-1), bytes_of_value<std::int8_t>(1), "-1 on rank 0, 1 on rank 2"},
        {u8, {}, bytes_of_value<std::uint8_t>(255), bytes_of_value<std::uint8_t>(1), "255 on rank 0, 1 on rank 2"},
        {i16, {}, bytes_of_value<std::int16_t>(-1), bytes_of_value<std::int16_t>(1), "-1 on rank 0, 1 on rank 2"},
        {u16, {}, bytes_of_value<std::uint16_t>(65535), bytes_of_value<std::uint16_t>(1), "65535 on rank 0, 1 on"},
        {i32, {}, bytes_of_value(-5), bytes_of_value(5), "-5 on rank 0, 5 on rank 2"},
        {u32, {}, bytes_of_value(~0u), bytes_of_value(5u), "4294967295 on rank 0, 5 on rank 2"},
        {i64, {}, bytes_of_value(std::int64_t{-5}), bytes_of_value(std::int64_t{5}), "-5 on rank 0, 5 on rank 2"},
        {u64, {}, bytes_of_value(~0ull), bytes_of_value(5ull), "18446744073709551615 on rank 0, 5 on rank 2"},
        {string_of(8), {}, bytes_of_text("one\033", 8), bytes_of_text("two", 8), "'one?' on rank 0, 'two' on rank 2"},
        {string_of(8), {}, bytes_of_text({"a\0b", 3}, 8), bytes_of_text({"a\0c", 3}, 8), "'a' (bytes 62"},
        {f64, {3, 100}, row, other, "element 250 (from 0, in C order) is 0 on rank 0, 7.5 on rank 2"},
    };
}

}  // namespace

TEST_CASE("a value that differs is refused on every rank, whatever its type; nothing of the step is staged") {
    const auto all = differences();
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes);
        with_session(ranks, options, [&](Session& session, comm::Group& world) {
            auto stream = session.stream("restart", {.slots = 2, .keep = 0}).value();
            std::vector<std::vector<std::byte>> memory;
            memory.reserve(all.size());
            for (std::size_t i = 0; i < all.size(); ++i) {
                memory.push_back(all[i].right);
                stream.replicated("value" + std::to_string(i), all[i].type, all[i].shape, memory[i].data()).value();
            }
            for (std::size_t i = 0; i < all.size(); ++i) {
                CAPTURE(i);
                const auto name = "'value" + std::to_string(i) + "'";
                if (world.rank() == odd_one) memory[i] = all[i].odd;
                // The first save of a description, a later save, and a direct save.
                for (int again = 0; again < 2; ++again)
                    check_refused(stream.save(50), {name, all[i].says, "1 of 4 ranks", "not staged", "first_rank"});
                auto direct = stream.begin(51).value();
                check_refused(direct.seal(), {name, all[i].says});
                memory[i] = all[i].right;
                if (i % 5 == 0) CHECK(stream.save(static_cast<std::int64_t>(i)).value().kept);
            }
            CHECK(stream.counters().saves == (all.size() + 4) / 5);
            stream.wait_committed(60s).value();
        });
        CHECK(committed(options) == std::vector<std::int64_t>{15, 10, 5, 0});
    }
}

TEST_CASE("a value that all ranks change between begin() and seal() is compared as it is sealed") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes);
        with_session(ranks, options, [&](Session& session, comm::Group& world) {
            auto stream = session.stream("restart").value();
            double value = world.rank();
            stream.replicated("value", &value).value();
            auto direct = stream.begin(1).value();
            value = 5;
            CHECK(direct.seal().value().kept);
        });
        with_session(1, options, [&](Session& session, comm::Group&) {
            auto stream = session.stream("restart").value();
            double value = 0;
            stream.replicated("value", &value).value();
            stream.newest().value()->read().value();
            CHECK(value == 5);
        });
    }
}

TEST_CASE("what the application writes into the slot itself is not compared, also where some ranks alone ask for it") {
    for (const int nodes : {1, 2}) {
        for (const bool all_ask : {true, false}) {
            const test::TempDirectory folder;
            const auto options = options_in(folder, nodes);
            with_session(ranks, options, [&](Session& session, comm::Group& world) {
                auto stream = session.stream("restart").value();
                double written = world.rank(), copied = 1;
                stream.replicated("written", &written).value();
                stream.replicated("copied", &copied).value();
                for (const bool right : {false, true}) {
                    auto direct = stream.begin(1).value();
                    // The first rank of a node is among the ranks that ask.
                    if (all_ask || world.rank() % 2 == 0)
                        if (void* place = direct.block("written").value()) *static_cast<double*>(place) = 7;
                    copied = !right && world.rank() == odd_one ? 2 : 1;
                    if (right) CHECK(direct.seal().value().kept);
                    else check_refused(direct.seal(), {"'copied'", "1 on rank 0, 2 on rank 2"});
                }
            });
            with_session(2, options, [&](Session& session, comm::Group&) {
                auto stream = session.stream("restart").value();
                double written = 0;
                stream.replicated("written", &written).value();
                stream.newest().value()->read({"written"}).value();
                CHECK(written == 7);
            });
        }
    }
}

TEST_CASE("of a value that is the first rank's, every rank of every node gets rank 0's back") {
    for (const int nodes : {1, 2, 4}) {
        for (const bool staged : {true, false}) {
            const test::TempDirectory folder;
            const auto options = options_in(folder, nodes);
            test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
                const double own = 10 + world->rank();
                auto session = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value();
                auto stream = session.stream("restart").value();
                double own_value = own, same = 3;
                std::vector<float> many(50, static_cast<float>(own));
                stream.replicated("mine", &own_value, {}, Replicated::first_rank).value();
                stream.replicated("many", f32, {50}, many.data(), {}, Replicated::first_rank).value();
                stream.replicated("same", &same).value();
                CHECK(stream.save(1).value().kept);
                CHECK(stream.begin(2).value().seal().value().kept);
                stream.wait_committed(60s).value();
                if (!staged) session.close().value();  // else the staged copies stay
            });
            for (const int readers : {1, 3, 4}) {
                with_session(readers, options, [&](Session& session, comm::Group&) {
                    auto stream = session.stream("restart").value();
                    double own_value = 0, same = 0;
                    std::vector<float> many(50);
                    stream.replicated("mine", &own_value, {}, Replicated::first_rank).value();
                    stream.replicated("many", f32, {50}, many.data(), {}, Replicated::first_rank).value();
                    stream.replicated("same", &same).value();
                    auto restart = stream.newest().value();
                    REQUIRE(restart);
                    CHECK(restart->step() == 2);
                    restart->read({"mine"}).value();
                    CHECK(own_value == 10);
                    own_value = 0;
                    restart->read().value();
                    CHECK(own_value == 10);
                    CHECK(many == std::vector<float>(50, 10));
                    CHECK(same == 3);
                });
            }
        }
    }
}

TEST_CASE("ranks that do not agree whose value is meant are refused; a value keeps it when it is bound elsewhere") {
    const test::TempDirectory folder;
    with_session(ranks, options_in(folder, 2), [&](Session& session, comm::Group& world) {
        auto stream = session.stream("restart").value();
        double before = 1, value = world.rank(), other = 1;
        const bool odd = world.rank() == odd_one;
        stream.replicated("other", &other).value();
        stream.replicated("before", &before).value();
        stream.replicated("value", &value, {}, odd ? Replicated::equal : Replicated::first_rank).value();
        check_refused(stream.save(1), {"'value'", "it is a first_rank variable only on rank 0"});
        stream.forget("value").value();
        stream.replicated("value", &value, {}, Replicated::first_rank).value();
        stream.forget("before").value();  // the variables beside it keep their places
        CHECK(stream.save(1).value().kept);
        double elsewhere = value;
        stream.rebind("value", &elsewhere).value();
        CHECK(stream.save(2).value().kept);
        if (odd) other = 2;
        check_refused(stream.save(3), {"'other'"});
    });
}

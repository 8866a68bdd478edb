// Goal: node files, and the data read from them, are the same for any number of threads that copy. A damaged byte of a
// staged copy is found by any thread, and the first of several is reported. Two sessions of a process have their own
// threads. The log has threads that the machine refuses, and the reason for only one thread.
// Method: states of every shape, saved and read by 1 to 5 threads, in memory and from the target.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>

#include "core/format/node_file.hpp"
#include "path/catalog/catalog.hpp"
#include "support/failing_memory.hpp"
#include "support/limited_process.hpp"
#include "support/sessions.hpp"

using namespace forebay;
using test::options_in;

namespace {

struct Particle {
    float x;
    std::int64_t id;
    char label[17];
};

// An array with a halo, an array without, a table of structs, a table of columns, and replicated values: 30 MB in all.
struct State {
    static constexpr std::uint64_t rows = 300'000;
    std::vector<double> halo = std::vector<double>(102 * 104 * 102), plain = std::vector<double>(1'000'003);
    std::vector<Particle> particles = std::vector<Particle>(rows);
    std::vector<float> column = std::vector<float>(rows);
    double time = 0;

    void describe(Stream& stream) {
        stream.replicated("time", &time).value();
        stream.array("halo", f64, {100, 100, 100}, {with_halo({{0, 0, 0}, {100, 100, 100}}, {1, 2, 1}, halo.data())})
            .value();
        stream.array("plain", f64, {plain.size()}, {packed({{0}, {plain.size()}}, plain.data())}).value();
        auto structs = stream.particles("structs", {{"x", f32}, {"id", i64}, {"label", string_of(17)}}).value();
        auto columns = stream.particles("columns", {{"v", f32}}).value();
        const std::int64_t stride = sizeof(Particle);
        structs
            .bind(rows, {ColumnData{&particles[0].x, stride}, ColumnData{&particles[0].id, stride},
                         ColumnData{&particles[0].label, stride}})
            .value();
        columns.bind(rows, {column.data()}).value();
    }
    void fill() {
        std::mt19937_64 random(1);
        time = 4.5;
        for (auto& value : halo) value = static_cast<double>(random());
        for (auto& value : plain) value = static_cast<double>(random());
        for (auto& particle : particles) {
            particle = {static_cast<float>(random()), static_cast<std::int64_t>(random()), {}};
            for (auto& character : particle.label) character = static_cast<char>('a' + random() % 26);
        }
        for (auto& value : column) value = static_cast<float>(random());
    }
    // The values to find in a snapshot.
    friend bool operator==(const State& a, const State& b) {
        for (std::size_t z = 1; z <= 100; ++z)
            for (std::size_t y = 2; y < 102; ++y)
                for (std::size_t x = 1; x <= 100; ++x)
                    if (a.halo[(z * 104 + y) * 102 + x] != b.halo[(z * 104 + y) * 102 + x]) return false;
        return a.time == b.time && a.plain == b.plain && a.column == b.column &&
               std::ranges::equal(a.particles, b.particles, [](const Particle& particle, const Particle& other) {
                   return particle.x == other.x && particle.id == other.id &&
                          std::ranges::equal(particle.label, other.label);
               });
    }
};

// The committed file: its words, and the bytes of its blocks.
struct Content {
    std::vector<std::uint32_t> words;
    std::vector<std::vector<std::byte>> blocks;
    friend bool operator==(const Content&, const Content&) = default;
};

Content content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto bytes = std::as_bytes(std::span(text));
    const auto head = catalog::load_head(sys::posix_store(), path).value();
    Content content{.words = head.crc32c, .blocks = {}};
    for (const auto& block : head.blocks) {
        const auto of_block = bytes.subspan(block.offset_bytes, block.size_bytes);
        content.blocks.emplace_back(of_block.begin(), of_block.end());
    }
    return content;
}

Options with_threads(const test::TempDirectory& folder, int threads) {
    auto options = options_in(folder, 1, "run-" + std::to_string(threads));
    options.copy_threads = threads;
    return options;
}

std::string at_target(const Options& options) { return options.run + "/restart/step-000001/node-00000.h5"; }

// One step, committed and still staged, as after a crash.
void save_and_crash(const Options& options, State& state) {
    auto session = Session::open(options).value();
    auto stream = session.stream("restart", {.view = false}).value();
    state.describe(stream);
    CHECK(stream.save(1).value().kept);
    CHECK(stream.counters().copy_threads == static_cast<std::uint64_t>(options.copy_threads));
    stream.wait_committed(std::chrono::seconds(60)).value();
}

// The source of the state that was read.
std::string restore(const Options& options, State& state) {
    auto session = Session::open(options).value();
    auto stream = session.stream("restart", {.view = false}).value();
    state.describe(stream);
    const auto restart = stream.restore().value();
    REQUIRE(restart);
    const auto source = restart->source();
    session.close().value();
    return source;
}

void flip(const std::string& path, std::uint64_t at) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(at));
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
    REQUIRE(file);
}

}  // namespace

TEST_CASE("a save by 1 to 5 threads writes the same bytes and words; a restart by as many reads them, staged or not") {
    const test::TempDirectory folder;
    State state;
    state.fill();
    std::optional<Content> first;
    for (int threads = 1; threads <= 5; ++threads) {
        CAPTURE(threads);
        const auto options = with_threads(folder, threads);
        save_and_crash(options, state);
        const auto content = content_of(at_target(options));
        if (!first) first = content;
        CHECK(content == *first);
        State staged, stored;
        CHECK(restore(options, staged).starts_with("staged"));
        CHECK(staged == state);
        CHECK(restore(options, stored) == options.run + "/restart/step-000001");
        CHECK(stored == state);
    }
}

TEST_CASE("damage of a staged copy is found by whichever thread copies it; of several places the first is told") {
    const test::TempDirectory folder;
    State state;
    state.fill();
    std::string told_by_one;
    for (const int threads : {1, 2, 5}) {
        CAPTURE(threads);
        auto options = with_threads(folder, threads);
        save_and_crash(options, state);
        std::string staged;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
            if (entry.path().filename() == "restart.0.h5") staged = entry.path();
        std::uint64_t begin = UINT64_MAX;
        const auto head = catalog::load_head(sys::posix_store(), at_target(options)).value();
        for (const auto& block : head.blocks)
            if (block.size_bytes > 7'000'000) begin = std::min(begin, block.offset_bytes);
        for (const std::uint64_t at : {6'500'000, 5'500'000, 3'500'000}) flip(staged, begin + at);
        std::string logged;
        options.log = [&](const std::string& line) {
            if (const auto damage = line.find("crc32c"); damage != line.npos) logged = line.substr(damage);
        };
        State again;
        CHECK(restore(options, again) == options.run + "/restart/step-000001");
        CHECK(again == state);
        CHECK(logged.find(fmt::format("bytes {}-", begin + (3u << 20))) != logged.npos);
        if (threads == 1) told_by_one = logged;
        CHECK(logged == told_by_one);
    }
}

TEST_CASE("two sessions of a process have threads of their own, and neither has any after it is closed") {
    const test::TempDirectory folder;
    const auto threads_now = [] {
        const std::filesystem::directory_iterator tasks("/proc/self/task");
        return std::distance(begin(tasks), end(tasks));
    };
    State state;
    state.fill();
    const auto save = [&](Session& session, std::int64_t step) {
        auto stream = session.stream("restart", {.view = false}).value();
        State own = state;
        own.describe(stream);
        CHECK(stream.save(step).value().kept);
        CHECK(stream.counters().copy_threads == 3);
        stream.wait_committed(std::chrono::seconds(60)).value();
    };
    const auto before = threads_now();
    auto session_options = with_threads(folder, 3), other = session_options;
    other.run += "-other";
    auto first = Session::open(session_options).value();
    auto second = Session::open(other).value();
    save(first, 1);
    save(second, 1);
    save(first, 2);
    first.close().value();
    save(second, 2);
    second.close().value();
    CHECK(threads_now() == before);
    for (const auto* options : {&session_options, &other}) {
        State again;
        restore(*options, again);
        CHECK(again == state);
    }
}

TEST_CASE("the log tells how many threads copy, and which the machine did not give") {
    const test::TempDirectory folder;
    test::give_to_limited_user(folder.path());
    const auto limited = [&] {
        auto options = with_threads(folder, 40);
        std::string log;
        options.log = [&](const std::string& line) { log += line + "\n"; };
        if (!test::become_limited_user()) return 98;
        if (!test::limit_to(RLIMIT_NPROC, 12)) return 97;
        auto session = Session::open(options);
        if (!session || !test::lift_limit(RLIMIT_NPROC)) return 1;
        std::vector<double> data(3'000'000, 4.5);
        auto stream = session->stream("restart", {.view = false}).value();
        stream.array("u", f64, {data.size()}, {packed({{0}, {data.size()}}, data.data())}).value();
        if (!stream.save(1)) return 2;
        session->close().value();
        if (log.find("fewer threads copy than copy_threads requires: start of a thread") == log.npos) return 3;
        if (log.find("ulimit -u") == log.npos) return 4;
        return 0;
    };
#ifndef __SANITIZE_THREAD__
    CHECK(test::in_child(limited) == 0);
#endif
    auto options = with_threads(folder, 3);
    std::string log;
    options.log = [&](const std::string& line) { log += line + "\n"; };
    Session::open(options).value().close().value();
    CHECK(log.find("3 threads of each rank copy; rank 0's are on CPUs " + sys::show_cpus(sys::own_cpus())) != log.npos);
    CHECK(log.find("fewer") == log.npos);
}

TEST_CASE("the log tells why a rank copies with one thread") {
    const auto log_of = [](int ranks, int copy_threads) {
        const test::TempDirectory folder;
        auto options = options_in(folder, 1);
        options.copy_threads = copy_threads;
        std::string log;
        options.log = [&](const std::string& line) { log += line + "\n"; };
        if (ranks == 1) Session::open(options).value().close().value();
        else test::with_session(ranks, options, [](Session&, comm::Group&) {});
        return log;
    };
    const auto says = [](const std::string& log, const std::string& reason) {
        const bool is_said = log.find("one thread of each rank copies: " + reason) != log.npos;
        CHECK_MESSAGE(is_said, log);
        return is_said;
    };
    says(log_of(1, 1), "copy_threads is 1\n");
    says(log_of(3, 0), "other ranks may run on each of its CPUs; bind ranks to their own CPUs\n");
    const auto bound = [&] {
        cpu_set_t first;
        CPU_ZERO(&first);
        for (unsigned cpu = 0; CPU_COUNT(&first) == 0; ++cpu)
            if (sys::own_cpus()[cpu]) CPU_SET(cpu, &first);
        if (::sched_setaffinity(0, sizeof(first), &first) != 0) return 98;
        return says(log_of(1, 0), "it has one core\n") ? 0 : 1;
    };
#ifndef __SANITIZE_THREAD__
    CHECK(test::in_child(bound) == 0);
#endif
    // Less than a thread copies back and forth in a measurement.
    test::largest_allocation_bytes = (1u << 20) - 1;
    const auto short_of_memory = log_of(1, 0);
    test::largest_allocation_bytes = SIZE_MAX;
    says(short_of_memory, sys::one_of_each_core(sys::own_cpus()).count() > 1
                              ? "the best number was not measured: this process has no more memory"
                              : "it has one core");
}

TEST_CASE("ranks that may run on the same CPUs copy with one thread each; one that is alone with as many as it has") {
    for (const int ranks : {1, 2, 5}) {
        const test::TempDirectory folder;
        test::with_session(ranks, options_in(folder, ranks > 2 ? 2 : 1), [&](Session& session, comm::Group& world) {
            auto stream = session.stream("restart", {.view = false}).value();
            std::vector<double> data(3'000'000, 4.5);
            const auto rank = static_cast<std::uint64_t>(world.rank()), size = static_cast<std::uint64_t>(world.size());
            stream.array("u", f64, {size, data.size()}, {packed({{rank, 0}, {1, data.size()}}, data.data())}).value();
            stream.save(1).value();
            const auto threads = stream.counters().copy_threads;
            if (ranks > 1) CHECK(threads == 1);
            else CHECK((threads >= 1 && threads <= sys::own_cpus().count()));
        });
    }
}

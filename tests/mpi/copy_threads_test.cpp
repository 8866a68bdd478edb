// Goal: under MPI, ranks without CPU binding copy with one thread, bound ranks with at most one thread for each of
// their CPUs. A given number of threads is obeyed. The data come back in each case.
// Method: the ranks bind themselves, as a launcher does, each to its share of the CPUs of this machine.
// ranks: 1 2 3

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <sched.h>

#include <algorithm>
#include <numeric>

#include "core/describe/geometry.hpp"
#include "core/sys/cpus.hpp"
#include "support/mpi_main.hpp"
#include "support/mpi_world.hpp"

using namespace forebay;

namespace {

constexpr std::uint64_t elements = 5'000'003;  // 40 MB a rank

std::vector<unsigned> listed(const sys::CpuSet& cpus) {
    std::vector<unsigned> list;
    for (unsigned cpu = 0; cpu < sys::cpus_max; ++cpu)
        if (cpus[cpu]) list.push_back(cpu);
    return list;
}

// This rank's share of the CPUs. If there are fewer CPUs than ranks, several ranks share the last CPUs.
sys::CpuSet own_share(const sys::CpuSet& all, int rank, int ranks) {
    const auto cpus = listed(all);
    const auto share = balanced_share(cpus.size(), static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(ranks));
    sys::CpuSet own;
    for (std::uint64_t i = 0; i < share.count; ++i) own.set(cpus[share.first + i]);
    return own.any() ? own : all;
}

void bind_to(const sys::CpuSet& cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const auto cpu : listed(cpus)) CPU_SET(cpu, &set);
    REQUIRE(::sched_setaffinity(0, sizeof set, &set) == 0);
}

// The number of threads that copied on this rank.
std::uint64_t save_and_restore(const std::string& run, const std::string& staging, int copy_threads) {
    Options options{.run = run, .staging = staging};
    options.agent.mode = AgentMode::thread;
    options.copy_threads = copy_threads;
    const auto rank = static_cast<std::uint64_t>(test::rank_in(MPI_COMM_WORLD));
    const auto ranks = static_cast<std::uint64_t>(test::size_of(MPI_COMM_WORLD));
    std::vector<double> data(elements), wanted(elements);
    std::iota(wanted.begin(), wanted.end(), static_cast<double>(rank * elements));
    const auto describe = [&](Stream& stream) {
        stream.array("u", f64, {ranks, elements}, {packed({{rank, 0}, {1, elements}}, data.data())}).value();
    };
    std::uint64_t threads = 0;
    {
        auto session = open(MPI_COMM_WORLD, options).value();
        auto stream = session.stream("restart", {.view = false}).value();
        describe(stream);
        data = wanted;
        stream.save(1).value();
        threads = stream.counters().copy_threads;
        stream.wait_committed(std::chrono::seconds(60)).value();
    }
    for (const bool staged : {true, false}) {  // a session without close() leaves its snapshot staged
        std::ranges::fill(data, 0.0);
        auto session = open(MPI_COMM_WORLD, options).value();
        auto stream = session.stream("restart", {.view = false}).value();
        describe(stream);
        const auto restart = stream.restore().value();
        REQUIRE(restart);
        CHECK(restart->source().starts_with("staged") == staged);
        CHECK(data == wanted);
        session.close().value();
    }
    return threads;
}

}  // namespace

TEST_CASE("copy_threads of ranks that are not bound, that are, and of a number") {
    test::together([] {
        const test::CommonDirectory folder("/dev/shm");
        const int rank = test::rank_in(MPI_COMM_WORLD), ranks = test::size_of(MPI_COMM_WORLD);
        const auto all = sys::own_cpus();
        const auto unbound = save_and_restore(folder / "unbound", folder / "", 0);
        if (ranks > 1) CHECK(unbound == 1);
        else CHECK((unbound >= 1 && unbound <= all.count()));
        CHECK(save_and_restore(folder / "three", folder / "", 3) == 3);
        const auto own = own_share(all, rank, ranks);
        bind_to(own);
        const auto threads = save_and_restore(folder / "bound", folder / "", 0);
        CHECK((threads >= 1 && threads <= own.count()));
        CHECK(sys::own_cpus() == own);
    });
}

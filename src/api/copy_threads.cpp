// How a session finds the threads that copy: Options::copy_threads.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/state.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "stage/copy_threads.hpp"

namespace forebay {

// Where the option is "auto", one gathering over the machine; and a maximum over the world, for the log.
Result<> SessionState::find_crew() {
    auto& world = *topology.world;
    auto& machine = *topology.machine;
    const bool automatic = options.copy_threads == 0;
    auto wanted = static_cast<std::uint32_t>(options.copy_threads);
    sys::CpuSet cpus;
    std::vector<sys::CpuSet> ranks;
    FB_TRY(comm::agree(world, [&] {
        cpus = sys::own_cpus();
        ranks.resize(static_cast<std::size_t>(machine.size()));
    }));
    if (automatic) {
        machine.gather_all(std::as_bytes(std::span(&cpus, 1)), std::as_writable_bytes(std::span(ranks)));
        cpus = stage::cpus_alone(ranks, static_cast<std::size_t>(machine.rank()));
    }
    FB_TRY(comm::agree(world, [&] {
        cpus = sys::one_of_each_core(cpus);
        if (automatic)
            wanted = static_cast<std::uint32_t>(std::clamp<std::size_t>(cpus.count(), 1, limits::copy_threads_max));
        beside_.crew =
            automatic ? stage::crew_at_memory_limit(wanted, cpus) : std::make_unique<sys::Crew>(wanted, cpus);
    }));
    const auto threads = static_cast<std::int64_t>(beside_.crew->threads());
    std::array<std::int64_t, 3> numbers{threads, -threads, beside_.crew->shortage() ? 0 : 1};
    world.max(numbers);
    const auto most = numbers[0], least = -numbers[1];
    if (most > 1)
        log([&] {
            return fmt::format("{} threads of each rank copy{}",
                               least == most ? fmt::to_string(most) : fmt::format("{} to {}", least, most),
                               threads > 1 ? fmt::format("; rank 0's are on CPUs {}", sys::show_cpus(cpus)) : "");
        });
    if (numbers[2] != 0)
        log([&] {
            return fmt::format("fewer threads copy than copy_threads asks for: {}",
                               beside_.crew->shortage() ? "some could not be started on other ranks than the first"
                                                        : beside_.crew->shortage().error().line());
        });
    return {};
}

}  // namespace forebay

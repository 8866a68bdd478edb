// How a session finds the threads that copy: Options::copy_threads.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "bindings/api/session_opening.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "path/stage/copy_threads.hpp"

namespace forebay {

namespace {

// The reason for only one thread.
std::string show_reason(const Options& options, std::size_t own_cores, const sys::Crew& crew,
                        const Result<>& measured) {
    if (!crew.shortage()) return "no more threads could be started";
    if (options.copy_threads == 1) return "copy_threads is 1";
    if (own_cores == 0) return "other ranks may run on each of its CPUs; bind ranks to their own CPUs";
    if (own_cores == 1) return "it has one core";
    if (!measured) return fmt::format("the best number was not measured: {}", measured.error().line());
    return "more threads are not faster";
}

}  // namespace

// If the option is "auto": one gathering over the machine. Always: a maximum over the world, for the log.
Result<std::unique_ptr<sys::Crew>> find_crew(const Options& options, const comm::Topology& topology,
                                             const node::Say& say) {
    auto& world = *topology.world;
    auto& machine = *topology.machine;
    const bool automatic = options.copy_threads == 0;
    auto wanted = static_cast<std::uint32_t>(options.copy_threads);
    sys::CpuSet cpus;
    std::vector<sys::CpuSet> ranks;
    std::unique_ptr<sys::Crew> crew;
    FB_TRY(comm::agree(world, [&] {
        cpus = sys::own_cpus();
        ranks.resize(static_cast<std::size_t>(machine.size()));
    }));
    if (automatic) {
        machine.gather_all(std::as_bytes(std::span(&cpus, 1)), std::as_writable_bytes(std::span(ranks)));
        // Only CPUs that no other rank of the machine may use.
        cpus = stage::cpus_alone(ranks, static_cast<std::size_t>(machine.rank()));
    }
    Result<> measured;
    FB_TRY(comm::agree(world, [&] {
        cpus = sys::one_of_each_core(cpus);
        if (!automatic) {
            crew = std::make_unique<sys::Crew>(wanted, cpus);
            return;
        }
        wanted = static_cast<std::uint32_t>(std::clamp<std::size_t>(cpus.count(), 1, limits::copy_threads_max));
        auto match = stage::crew_at_memory_limit(wanted, cpus);
        crew = std::move(match.crew);
        measured = std::move(match.measured);
    }));
    const auto threads = static_cast<std::int64_t>(crew->threads());
    // One maximum gives the largest number and, by its negative, the smallest.
    std::array<std::int64_t, 4> maxima{threads, -threads, crew->shortage() ? 0 : 1, measured ? 0 : 1};
    world.max(maxima);
    const auto [most, minus_least, has_shortage, is_unmeasured] = maxima;
    const auto least = -minus_least;
    log_to(say, [&, most = most] {
        const auto reason = threads > 1 ? "" : show_reason(options, cpus.count(), *crew, measured);
        if (most == 1) return fmt::format("one thread of each rank copies: {}", reason);
        return fmt::format("{} threads of each rank copy; {}",
                           least == most ? fmt::to_string(most) : fmt::format("{} to {}", least, most),
                           threads > 1 ? fmt::format("rank 0's are on CPUs {}", sys::show_cpus(cpus))
                                       : fmt::format("rank 0 has one thread: {}", reason));
    });
    if (has_shortage != 0)
        log_to(say, [&] {
            return fmt::format("fewer threads copy than copy_threads requires: {}",
                               crew->shortage() ? "some threads could not start on ranks other than the first"
                                                : crew->shortage().error().line());
        });
    if (is_unmeasured != 0 && measured)
        log_to(say, [] {
            return std::string("one thread copies on other ranks, as the best number was not measured there");
        });
    return crew;
}

}  // namespace forebay

#include "screen.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace nbody {

std::string human_bytes(double bytes) {
    const char* unit = "B";
    for (const char* next : {"kB", "MB", "GB", "TB"}) {
        if (bytes < 1000) break;
        bytes /= 1000;
        unit = next;
    }
    char text[32];
    std::snprintf(text, sizeof text, "%.4g %s", bytes, unit);
    return text;
}

void print_step(const Simulation& simulation, double seconds, const std::string& note) {
    const auto rows = static_cast<long long>(simulation.particles.size());
    std::array<long long, 2> extremes{rows, -rows};
    MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_LONG_LONG, MPI_MAX, simulation.slab.comm);
    if (simulation.slab.rank != 0) return;
    std::printf("step %4lld/%lld  a %.4f  %6.3f s  particles a rank %lld..%lld%s%s\n",
                static_cast<long long>(simulation.state.step), static_cast<long long>(simulation.parameters.steps),
                simulation.state.a, seconds, -extremes[1], extremes[0], note.empty() ? "" : "  ", note.c_str());
    std::fflush(stdout);
}

void print_end(const SavingTotals& totals, const Ledger& ledger) {
    const double visible = totals.blocked_seconds, drain = totals.drain_seconds;
    std::printf("\n  saved              %s in %llu saves (%llu skipped)\n",
                human_bytes(static_cast<double>(totals.bytes_saved)).c_str(),
                static_cast<unsigned long long>(totals.saves), static_cast<unsigned long long>(totals.skipped));
    std::printf("  visible            %.3f s in all, %.3f s the longest save, %.3f s of it waiting for a slot\n",
                visible, ledger.blocked_seconds_max(), totals.wait_seconds);
    std::printf("  drained            %s by the busiest agent in %.2f s, %llu commits, %llu aborts\n",
                human_bytes(static_cast<double>(totals.bytes_drained)).c_str(), drain,
                static_cast<unsigned long long>(totals.commits), static_cast<unsigned long long>(totals.aborts));
    if (totals.deadlines_missed + totals.overtakes + totals.limits_overruled > 0)
        std::printf(
            "  scheduled          %llu deadlines missed, %llu drains overtook, %llu kept no slowdown_percent_max\n",
            static_cast<unsigned long long>(totals.deadlines_missed), static_cast<unsigned long long>(totals.overtakes),
            static_cast<unsigned long long>(totals.limits_overruled));
    if (const auto& slacks = ledger.slacks(); !slacks.empty())
        std::printf("  slack              %.2f s at least, %.2f s on average, from durable to the next save\n",
                    *std::min_element(slacks.begin(), slacks.end()), mean(slacks));
    if (drain + visible > 0) std::printf("  hidden             %.1f %% of the time\n", 100 * drain / (drain + visible));
    const auto &beside = ledger.steps_draining(), &alone = ledger.steps_alone();
    if (beside.empty() || alone.empty())
        std::printf("  compute slowdown   not measured: %zu steps beside a drain, %zu without\n", beside.size(),
                    alone.size());
    else
        std::printf("  compute slowdown   %+.1f %%: %.3f s a step beside a drain (%zu), %.3f s without (%zu)\n",
                    100 * (mean(beside) / mean(alone) - 1), mean(beside), beside.size(), mean(alone), alone.size());
    std::printf("  newest durable     step %lld\n", static_cast<long long>(totals.newest_durable_step));
    std::fflush(stdout);
}

}  // namespace nbody

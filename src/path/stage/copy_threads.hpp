// How many threads of a rank copy, and on which CPUs: Options::copy_threads.

#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/sys/crew.hpp"

namespace forebay::stage {

/// The CPUs that this rank alone of its machine may use; all of its own where it is the only rank. `ranks` holds the
/// CPUs of every rank of the machine. For example of the masks 0-3, 2-5 and 6-7 the first rank has 0-1 to itself, the
/// second 4-5, the third 6-7; where no rank is bound, none has any.
sys::CpuSet cpus_alone(std::span<const sys::CpuSet> ranks, std::size_t rank);

/// The smallest crew that copies and checksums as fast as one of `threads`, within some percent: more would only wait
/// for memory. Tries all, then a half, a quarter and so on; each try takes about a millisecond, and 3 MiB of memory a
/// thread meanwhile. What others do on these CPUs does not count: it goes by the threads' own time. Where so many
/// threads cannot be started it is a crew of half of those that can, with its shortage() as the error. Where there is
/// no memory to try with it is the caller alone.
struct MeasuredCrew {
    std::unique_ptr<sys::Crew> crew;
    Result<> measured = {};  // or why it was not
};
MeasuredCrew crew_at_memory_limit(std::uint32_t threads, const sys::CpuSet& cpus);

}  // namespace forebay::stage

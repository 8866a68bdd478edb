// The number of a rank's threads that copy, and their CPUs: Options::copy_threads.

#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/sys/crew.hpp"

namespace forebay::stage {

/// The CPUs that only this rank of its machine may use; for a single rank all its CPUs. `ranks` has the CPUs of every
/// rank of the machine. Example: with the masks 0-3, 2-5 and 6-7 the first rank gets 0-1, the second 4-5, the third
/// 6-7. If no rank is bound, no rank gets any.
sys::CpuSet cpus_alone(std::span<const sys::CpuSet> ranks, std::size_t rank);

/// Finds the smallest crew that copies and checksums as fast as `threads` threads, within some percent; more threads
/// would only wait for memory. It tries `threads`, then a half, a quarter and so on. Each try takes about a
/// millisecond, and 3 MiB of memory for each thread. It measures the threads' own CPU time, so other load on these CPUs
/// does not count. If some threads cannot be started, the crew is half of the started threads, with its shortage() as
/// error. If memory is short, the crew is only the caller.
struct MeasuredCrew {
    std::unique_ptr<sys::Crew> crew;
    Result<> measured = {};  // or the error
};
MeasuredCrew crew_at_memory_limit(std::uint32_t threads, const sys::CpuSet& cpus);

}  // namespace forebay::stage

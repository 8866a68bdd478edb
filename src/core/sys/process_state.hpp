// The state of another process.

#pragma once

#include <cstdint>

namespace forebay::sys {

/// A process of this machine, as the kernel sees it. A process is `ending` if it exits or was killed. It keeps its
/// files and locks until the kernel has taken back its memory: seconds if it has much.
enum class ProcessState { gone, ending, living };
ProcessState state_of_process(std::int64_t process);

}  // namespace forebay::sys

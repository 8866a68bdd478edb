// Commits a batch of packed files under its step. If another batch has that step, the batch gets a free step. No batch
// is ever replaced, whatever the clocks of the packers show.

#pragma once

#include <cstdint>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::commit {

/// A batch whose node file is durable in RUN/STREAM/.step-STEP.ID.part.
struct BatchPart {
    std::string run, stream;
    std::int64_t step = 0;
    std::uint64_t snapshot_id = 0;
    std::uint64_t run_id = 0;  // the identity that `run` must have

    std::string directory() const;
};

/// Returns a step for a batch: the time in milliseconds since 1970, but above all committed steps. `attempt` counts
/// earlier conflicts: each of them doubles the range above, from which the step is drawn.
Result<std::int64_t> next_step(sys::Store& store, const std::string& run, const std::string& stream, int attempt = 0);

/// Commits the batch durably, and checks by its id that it is there. `batch.step` becomes the committed step. After an
/// error it is the step of the part, if the part still exists. `retry` if another program moved or removed the batch.
Result<> commit_batch(sys::Store& store, BatchPart& batch);

/// Renames `directory`, which holds the batch under any name, to a part with a free step. If several callers do this at
/// once, one of them has the batch afterwards; the calls of the rest return `missing`.
Result<> move_to_free_step(sys::Store& store, const std::string& directory, BatchPart& batch, int attempt = 0);

}  // namespace forebay::commit

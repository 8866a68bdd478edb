// Commit of a batch of packed files: under its step or, when another batch has that, under one that is free. Nobody's
// batch is ever replaced, whatever the clocks of the packers say.

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
    std::uint64_t run_id = 0;  // what `run` must have

    std::string directory() const;
};

/// A step for a batch: the time in milliseconds since 1970, but above all that are committed. The more often others
/// were faster, the further ahead of them.
Result<std::int64_t> next_step(sys::Store& store, const std::string& run, const std::string& stream, int attempt = 0);

/// Commits it and sees it committed, by its id, durably. `batch.step` is then its step, and after an error that of the
/// part, if that is still there. `retry` when somebody else has moved or removed it.
Result<> commit_batch(sys::Store& store, BatchPart& batch);

/// Makes `directory`, which holds the batch under whatever name, its part under a step that is free now. Of several who
/// do that at once, one has the batch afterwards; the others get `missing`.
Result<> move_to_free_step(sys::Store& store, const std::string& directory, BatchPart& batch, int attempt = 0);

}  // namespace forebay::commit

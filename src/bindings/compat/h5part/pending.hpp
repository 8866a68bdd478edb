// H5Part files that are being written, and closed files that `forebay h5part` is still making. Their life is described
// in made/writers.hpp; this file has H5Part's part. There is one list for the process, since H5Part's calls share no
// handle.

#pragma once

#include <memory>
#include <string>

#include "bindings/compat/h5part/writer.hpp"
#include "bindings/compat/made/writers.hpp"

namespace forebay::h5part {

struct WrittenSteps : made::WrittenFile {
    std::unique_ptr<StepWriter> writer = {};
    bool stays = false;  // the file existed at the opening, and keeps its steps

    Result<> close_session() { return writer->session().close(); }
};

/// Makes the run's directory for a new writer. Then `stays` is true if the file has steps to keep. Collective.
Result<WrittenSteps> begin_writing(const SessionRanks& ranks, const std::string& file, bool appends,
                                   std::uint64_t align_bytes);

/// Ends the last step and starts the process that makes the file. Collective.
Result<> end_writing(WrittenSteps writing);

/// Waits, on the first rank of a reader, until the file is complete as its last writer closed it.
Result<> await_file(const std::string& file);

/// finish_committed() closes the sessions of these ranks whose steps are committed. finish_all() closes all, when the
/// process ends. Both return the first error. Collective.
Result<> finish_committed(const made::FileRanks& ranks);
Result<> finish_all(made::Which which);

}  // namespace forebay::h5part

// H5Part files that are written, and closed ones that `forebay h5part` is still making of their steps. Their life is
// that of every file made behind the application (made/writers.hpp); here is what is H5Part's own. One list in a
// process, since H5Part's calls share no handle.

#pragma once

#include <memory>
#include <string>

#include "bindings/compat/h5part/writer.hpp"
#include "bindings/compat/made/writers.hpp"

namespace forebay::h5part {

struct WrittenSteps : made::WrittenFile {
    std::unique_ptr<StepWriter> writer = {};
    bool stays = false;  // the file was there when it was opened, and keeps its steps

    Result<> close_session() { return writer->session().close(); }
};

/// Makes the run's directory for a new writer: after it, `appends` says whether the file has steps that stay.
/// Collective.
Result<WrittenSteps> begin_writing(const SessionRanks& ranks, const std::string& file, bool appends,
                                   std::uint64_t align_bytes);

/// Ends the last step and starts the making of the file. Collective.
Result<> end_writing(WrittenSteps writing);

/// On the first rank of a reader: waits until the file of that name is there as its last writer closed it.
Result<> await_file(const std::string& file);

/// Closes the sessions of these ranks whose steps are committed, and all of them where the process ends. The first
/// error. Collective.
Result<> finish_committed(const made::FileRanks& ranks);
Result<> finish_all(made::Which which);

}  // namespace forebay::h5part

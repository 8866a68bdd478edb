// Views that a copy of a run leaves out, because the target's node files have another layout than the views show.

#pragma once

#include <map>
#include <set>
#include <string>

#include "path/catalog/history.hpp"
#include "transfer/copy/entry_log.hpp"
#include "transfer/walk/filter.hpp"

namespace forebay::cli {

class OtherViews {
public:
    /// Between two runs. `filter` gets the excluded views. All arguments must outlive it.
    OtherViews(sys::Store& store, const std::string& source, const std::string& target, tree::EntryFilter& filter)
        : store_(store), source_(source), target_(target), filter_(filter) {}

    /// Excludes the views of a snapshot and of its stream's series.
    Result<> leave_out(const catalog::Version& version);
    /// The same, if the target's snapshot at `place`, below both runs, has other node files.
    Result<> leave_out_if_other(const catalog::Version& version, const std::string& place);
    /// Adds one log entry for each command that makes the views again.
    void tell(tree::EntryLog& entry_log) const;

private:
    Result<> leave_out(const std::string& stream, const std::string& name, const std::string& words);

    sys::Store& store_;
    const std::string& source_;
    const std::string& target_;
    tree::EntryFilter& filter_;
    std::set<std::string> left_out_;
    std::map<std::string, std::string> commands_;  // with the first view of each command
};

}  // namespace forebay::cli

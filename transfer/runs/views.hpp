// Views of a run that a copy of it leaves out, since node files lie otherwise at the target than the views show.

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
    /// Between two runs; `filter` gets what is left out. All must outlive it.
    OtherViews(sys::Store& store, const std::string& source, const std::string& target, tree::EntryFilter& filter)
        : store_(store), source_(source), target_(target), filter_(filter) {}

    /// The views of a snapshot, and those of its stream's series.
    Result<> leave_out(const catalog::Version& version);
    /// The same where the target has other node files of it at `place`, below both runs.
    Result<> leave_out_if_other(const catalog::Version& version, const std::string& place);
    /// A remark for all that one command makes anew.
    void tell(tree::EntryLog& entry_log) const;

private:
    Result<> leave_out(const std::string& stream, const std::string& name, const std::string& words);

    sys::Store& store_;
    const std::string& source_;
    const std::string& target_;
    tree::EntryFilter& filter_;
    std::set<std::string> left_out_;
    std::map<std::string, std::string> commands_;  // and the first view that each makes
};

}  // namespace forebay::cli

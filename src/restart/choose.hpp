// Which snapshot a restart reads: the newest that is whole, staged copies first, then the target; and why newer ones
// were passed over.

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/group.hpp"
#include "format/manifest.hpp"
#include "node/long_wait.hpp"
#include "node/staging.hpp"
#include "sys/store.hpp"

namespace forebay::restart {

/// A node file of the chosen snapshot that lies in this node's staging directory.
struct StagedCopy {
    std::uint32_t node = 0;  // index into Manifest::nodes
    std::string path;
    sys::Mapping mapping;  // made by map_staged()
};

struct Choice {
    format::Manifest manifest;
    std::string directory;  // at the target; "" when only the staged copy exists
    std::string source;     // for people
    std::vector<StagedCopy> staged;
};

struct ChooserContext {
    comm::Topology* topology = nullptr;
    node::Staging* staging = nullptr;
    sys::Store* store = nullptr;
    std::string run;
    std::uint64_t run_id = 0;
    std::chrono::milliseconds wait_max{};  // for what a dead session left staged to be drained
    node::Say say = {};                    // for that wait, when it lasts
};

class Chooser {
public:
    Chooser(ChooserContext context, std::string stream) : context_(std::move(context)), stream_(std::move(stream)) {}

    /// The newest whole snapshot of the living line with a step below `below`; nothing when there is none. `full` where
    /// this process has no more memory or descriptors, and `retry` where storage fails now: that is no fault of a
    /// snapshot, which would be passed over.
    /// Collective; all ranks get the same answer but for Choice::staged, which is the node's own.
    Result<std::optional<Choice>> newest_below(std::int64_t below);

    /// What was passed over and why, one line each; equal on all ranks.
    const std::vector<std::string>& notes() const { return notes_; }

private:
    /// One save that may be restored, or of which is said `why` not.
    struct Candidate {
        std::int64_t step = 0;
        format::Save save = {};
        std::string directory = {};  // at the target
        std::string staged = {};     // the staged copy that is all of it
        std::string why = {};
    };

    Result<> settle();
    Result<std::vector<node::StagedFile>> staged_here();
    bool is_whole_alone(const node::StagedFile& file) const;
    Result<std::vector<Candidate>> find(const std::vector<node::StagedFile>& staged) const;
    Result<std::vector<Candidate>> candidates(const std::vector<node::StagedFile>& staged);
    Result<Choice> load(const Candidate& candidate, const std::vector<node::StagedFile>& staged);
    Result<> check_records(const Choice& choice) const;
    Result<Choice> load_staged(const std::string& path);
    Result<> pass_over(std::int64_t step, const char* what, const Error& why);

    ChooserContext context_;
    std::string stream_;
    bool settled_ = false;
    std::vector<std::string> notes_;
};

}  // namespace forebay::restart

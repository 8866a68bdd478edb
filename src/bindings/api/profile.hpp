// A measured setting as options: how `forebay tune` makes options of its trials, and how a session takes what a profile
// has chosen. Names are those of the configuration; those of a stream begin with "stream.".

#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/comm/group.hpp"
#include "core/format/advice.hpp"
#include "forebay/forebay.hpp"
#include "forebay/options.hpp"
#include "path/node/control.hpp"
#include "path/node/long_wait.hpp"

namespace forebay {

/// Sets what `setting` names of a session, or of a stream; names that are of neither are passed over, as those of the
/// file system. `refused` for a value that is none.
Result<> apply_setting(const format::AdviceSetting& setting, Options& options);
Result<> apply_setting(const format::AdviceSetting& setting, StreamOptions& options);

/// Of `setting` what applies to a session, or to its stream `name`, and the user has not set: an option counts as set
/// where its value is not the default, or where the configuration file names it (Options::in_file).
format::AdviceSetting not_set(const format::AdviceSetting& setting, const Options& options);
format::AdviceSetting not_set(const format::AdviceSetting& setting, const StreamOptions& options,
                              const std::string& name, const std::vector<std::string>& in_file);

/// "agent.block_bytes = 67108864, stream.file = shared"
std::string show_setting(const format::AdviceSetting& setting);

/// Whether saves and drains are still as fast as a profile says. Of the first node. Threads: one.
class ProfileWatch {
public:
    /// Rates of a node, in bytes a second; 0 is watched by nothing.
    ProfileWatch(double save_rate, double drain_rate) : saves_{save_rate}, drains_{drain_rate} {}

    /// A line once, when the median of the last 5 is below 0.8 of the profile's.
    std::optional<std::string> saved(double bytes, double seconds) { return saves_.add("saves", bytes, seconds); }
    /// Totals of the agent so far: what has come since the last call counts as one drain.
    std::optional<std::string> drained(double bytes_all, double seconds_all);

private:
    struct Rates {
        double of_profile = 0;
        std::deque<double> last = {};
        bool is_told = false;
        std::optional<std::string> add(const char* what, double bytes, double seconds);
    };
    Rates saves_, drains_;
    double bytes_ = 0, seconds_ = 0;
};

/// What a session has of a profile. All ranks have the same, but for `watch`, which the first rank alone has.
struct ProfileUse {
    format::Advice advice;
    std::string path;
    std::optional<ProfileWatch> watch = {};

    /// Sets in `wanted` what the profile has for stream `name` and the user has not set. Local.
    void set(const std::string& name, const std::vector<std::string>& in_file, StreamOptions& wanted,
             const node::Say& say) const;
    /// Compares the speed of a save, and of the drains so far, with the profile's. Local.
    void compare(const Saved& saved, const node::Control& page, const comm::Topology& topology, const node::Say& say);
};

/// What Options::profile names, or finds: the first rank reads it, all take the same, and it sets `options`. Nothing
/// where none is wanted, or fits. Collective.
Result<std::optional<ProfileUse>> take_profile(comm::Group& world, const node::Say& say, Options& options);

}  // namespace forebay

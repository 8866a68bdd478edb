// forebay view in a build without HDF5: says so.

#include <memory>

#include "cli/verbs.hpp"

namespace forebay::cli {

agent::ViewMaker view_maker() { return {}; }

void add_view(CommandLine& line) {
    const auto place = std::make_shared<std::string>();
    auto verb = line.verb("view", "Make the plain view of a snapshot (not in this build: it has no HDF5)");
    verb.argument("RUN", *place, "The snapshot: RUN@STEP");
    verb.action([place]() -> Result<Exit> {
        return Error{ErrorKind::unsupported,
                     "no view of " + *place + ": this forebay was built without HDF5, which writes views",
                     "the snapshot; its node files are HDF5 files of their own",
                     "run the same command with a forebay that was built with -DFOREBAY_HDF5=ON"};
    });
}

}  // namespace forebay::cli

// forebay export in a build without HDF5: says so.

#include <memory>

#include "cli/verbs.hpp"
#include "describe/conventions.hpp"

namespace forebay::cli {

void add_export_hdf5(Verb& parent) {
    for (const auto& known : describe::known_conventions) {
        struct Options {
            std::string place, file;
        };
        const auto options = std::make_shared<Options>();
        auto verb = parent.verb(known.name, "Not in this build: it has no HDF5");
        verb.argument("RUN", options->place, "The snapshot: RUN@STEP");
        verb.argument("FILE", options->file, "The file");
        verb.action([options]() -> Result<Exit> {
            return Error{ErrorKind::unsupported,
                         options->place +
                             " was not exported: this forebay was built without HDF5, which lays the "
                             "file out",
                         "the snapshot; its node files are HDF5 files of their own",
                         "run the same command with a forebay that was built with -DFOREBAY_HDF5=ON"};
        });
    }
}

}  // namespace forebay::cli

// forebay h5part in a build without HDF5: says so.

#include <memory>

#include "cli/verbs.hpp"

namespace forebay::cli {

void add_h5part(CommandLine& line) {
    const auto file = std::make_shared<std::string>();
    auto verb = line.verb("h5part", "Make an H5Part file (not in this build: it has no HDF5)");
    verb.argument("FILE", *file, "The H5Part file");
    verb.action([file]() -> Result<Exit> {
        return Error{ErrorKind::unsupported,
                     *file + " was not made: this forebay was built without HDF5, which writes it",
                     "what the H5Part library wrote, in " + *file + ".forebay",
                     "run the same command with a forebay that was built with -DFOREBAY_HDF5=ON"};
    });
}

}  // namespace forebay::cli

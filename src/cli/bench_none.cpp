// forebay bench in a build without MPI: says so.

#include "cli/verbs.hpp"

namespace forebay::cli {

void add_bench(CommandLine& line) {
    auto verb = line.verb("bench", "Measure save, drain, pace, restart and plan (not in this build: it has no MPI)");
    verb.action([]() -> Result<Exit> {
        return Error{ErrorKind::unsupported,
                     "no benchmark: this forebay was built without MPI, whose ranks it measures", "",
                     "run the same command with a forebay that was built with -DFOREBAY_MPI=ON"};
    });
}

}  // namespace forebay::cli

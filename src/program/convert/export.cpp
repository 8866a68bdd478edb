// forebay export: writes snapshots as files of other programs.

#include "program/verbs.hpp"

namespace forebay::cli {

void add_export(CommandLine& line) {
    auto verb = line.verb("export", "Copy snapshots into one file for other programs");
    add_export_hdf5(verb);
    add_export_genericio(verb);
}

}  // namespace forebay::cli

// Chooses the processes for the verbs of trees: this process, with or without hosts, or ranks of MPI.

#include "transfer/program/verbs.hpp"
#include "core/terminal/other_program.hpp"
#include "transfer/program/hosts.hpp"

namespace forebay::cli {

namespace {

constexpr OtherProgram transfer_mpi{"forebay-transfer-mpi", "has MPI",
                                    "use a forebay that was built with -DFOREBAY_MPI=ON"};

}  // namespace

void add_tree_verbs(CommandLine& line) {
    if (started_by_launcher()) {
        for (const auto& [name, summary] : tree_summaries)
            line.elsewhere(name, summary, [](const auto& arguments) { return become(transfer_mpi, arguments); });
        return;
    }
    add_walk(line, run_with_hosts);
    add_copy(line, run_with_hosts);
    add_sync(line, run_with_hosts);
    add_compare(line, run_with_hosts);
    add_delete(line, run_with_hosts);
}

}  // namespace forebay::cli

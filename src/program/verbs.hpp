// The verbs of `forebay`, one file each.

#pragma once

#include "core/terminal/command_line.hpp"
#include "core/terminal/other_program.hpp"
#include "path/agent/view_maker.hpp"

namespace forebay::cli {

inline constexpr const char* program_summary =
    "Save a simulation's state at memory speed. Inspect, check and manage the saves.";

void add_ls(CommandLine& line);
void add_show(CommandLine& line);
void add_verify(CommandLine& line);
void add_compare(CommandLine& line);  // for snapshots
void add_prune(CommandLine& line);
void add_adopt(CommandLine& line);
void add_mark(CommandLine& line);
void add_unmark(CommandLine& line);
void add_recover(CommandLine& line);
void add_stop(CommandLine& line);
void add_drain(CommandLine& line);
void add_job(CommandLine& line);
void add_agent(CommandLine& line);
void add_forward(CommandLine& line);
void add_view(CommandLine& line);  // view_hdf5.cpp; without HDF5 hdf5_none.cpp, also for h5part and export hdf5
void add_h5part(CommandLine& line);
void add_import(CommandLine& line);
void add_export(CommandLine& line);
void add_export_genericio(Verb& parent);
void add_export_hdf5(Verb& parent);
void add_pack(CommandLine& line);
void add_extract(CommandLine& line);
void add_insitu(CommandLine& line);
void add_plot(CommandLine& line);
void add_top(CommandLine& line);
void add_metrics(CommandLine& line);
void add_movie(CommandLine& line);
void add_watch(CommandLine& line);  // watch_http.cpp; without cpp-httplib http_none.cpp
void add_report(CommandLine& line);
void add_trace(CommandLine& line);
void add_insitu_worker(CommandLine& line);
void add_bench(CommandLine& line);
void add_plan(CommandLine& line);
void add_tune(CommandLine& line);  // bench.cpp
void add_preflight(CommandLine& line);
void add_stagger(CommandLine& line);
/// Makes views for agents and tools of this build; empty without HDF5.
agent::ViewMaker view_maker();

}  // namespace forebay::cli

// All verbs of the program `forebay`, in a library that the program loads for its own verbs.

#include "program/transfer_verbs.hpp"
#include "program/verbs.hpp"

extern "C" int forebay_every_verb(int count, char** arguments) {
    using namespace forebay::cli;
    CommandLine line(program_summary);
    add_ls(line);
    add_show(line);
    add_verify(line);
    add_prune(line);
    add_adopt(line);
    add_mark(line);
    add_unmark(line);
    add_recover(line);
    add_stop(line);
    add_drain(line);
    add_job(line);
    add_view(line);
    add_h5part(line);
    add_import(line);
    add_export(line);
    add_pack(line);
    add_extract(line);
    add_transfer_verbs(line, add_compare);
    add_agent(line);
    add_forward(line);
    add_insitu(line);
    add_top(line);
    add_metrics(line);
    add_plot(line);
    add_movie(line);
    add_watch(line);
    add_report(line);
    add_trace(line);
    add_insitu_worker(line);
    add_bench(line);
    add_plan(line);
    add_tune(line);
    add_preflight(line);
    add_stagger(line);
    return line.run(count, arguments);
}

// The program `forebay`.

#include "cli/verbs.hpp"
#include "sys/process.hpp"

int main(int count, char** arguments) {
    forebay::sys::hold_standard_descriptors();  // libhdf5 opens files without asking which number they get
    forebay::sys::ignore_file_size_signal();
    forebay::cli::CommandLine line(
        "Save a simulation's state at memory speed; see, check and look after what was saved.");
    forebay::cli::add_ls(line);
    forebay::cli::add_show(line);
    forebay::cli::add_verify(line);
    forebay::cli::add_prune(line);
    forebay::cli::add_adopt(line);
    forebay::cli::add_mark(line);
    forebay::cli::add_unmark(line);
    forebay::cli::add_recover(line);
    forebay::cli::add_stop(line);
    forebay::cli::add_drain(line);
    forebay::cli::add_view(line);
    forebay::cli::add_h5part(line);
    forebay::cli::add_import(line);
    forebay::cli::add_export(line);
    forebay::cli::add_pack(line);
    forebay::cli::add_extract(line);
    forebay::cli::add_walk(line);
    forebay::cli::add_copy(line);
    forebay::cli::add_sync(line);
    forebay::cli::add_compare(line);
    forebay::cli::add_delete(line);
    forebay::cli::add_archive(line);
    forebay::cli::add_restore_archive(line);
    forebay::cli::add_agent(line);
    forebay::cli::add_forward(line);
    forebay::cli::add_insitu(line);
    forebay::cli::add_top(line);
    forebay::cli::add_metrics(line);
    forebay::cli::add_plot(line);
    forebay::cli::add_movie(line);
    forebay::cli::add_watch(line);
    forebay::cli::add_report(line);
    forebay::cli::add_trace(line);
    forebay::cli::add_insitu_worker(line);
    forebay::cli::add_bench(line);
    forebay::cli::add_plan(line);
    forebay::cli::add_tune(line);
    forebay::cli::add_preflight(line);
    forebay::cli::add_stagger(line);
    return line.run(count, arguments);
}

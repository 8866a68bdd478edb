// The program `forebay`. Verbs of trees are in it; the others are loaded with what they need, which takes longer than a
// walk of a small tree.

#include <string_view>

#include "core/terminal/print.hpp"
#include "program/verbs.hpp"
#include "core/sys/process.hpp"
#include "core/sys/program.hpp"

int main(int count, char** arguments) {
    forebay::sys::hold_standard_descriptors();  // libhdf5 opens files without asking which number they get
    forebay::sys::ignore_file_size_signal();
    if (count > 1 && forebay::cli::is_tree_verb(arguments[1])) {
        forebay::cli::CommandLine line(forebay::cli::program_summary);
        forebay::cli::add_tree_verbs(line);
        forebay::cli::add_tree_worker(line);
        return line.run(count, arguments);
    }
    const auto code = forebay::sys::call_main("libforebay_verbs.so", "forebay_every_verb", count, arguments);
    if (code) return *code;
    forebay::cli::print_error(code.error());
    return static_cast<int>(forebay::cli::exit_of(code.error().kind));
}

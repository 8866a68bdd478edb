// The program `forebay`. Verbs of the transfer tool start that program. Other verbs are loaded with their libraries.

#include <string_view>

#include "core/sys/process.hpp"
#include "core/sys/program.hpp"
#include "core/terminal/print.hpp"
#include "core/terminal/srun_task.hpp"
#include "program/transfer_verbs.hpp"
#include "program/verbs.hpp"

int main(int count, char** arguments) {
    using namespace forebay::cli;
    forebay::sys::hold_standard_descriptors();  // libhdf5 does not check which descriptor number it gets
    forebay::sys::ignore_file_size_signal();
    const auto left = leave_to_first_task(count > 1 ? arguments[1] : "");
    if (!left) {
        print_error(left.error());
        return static_cast<int>(exit_of(left.error().kind));
    }
    if (*left) return **left;
    if (count > 1 && is_transfer_verb(arguments[1]) && !compares_snapshots(count, arguments)) {
        CommandLine line(program_summary);
        add_transfer_verbs(line);
        return line.run(count, arguments);
    }
    const auto code = forebay::sys::call_main("libforebay_verbs.so", "forebay_every_verb", count, arguments);
    if (code) return *code;
    print_error(code.error());
    return static_cast<int>(exit_of(code.error().kind));
}

// The program `forebay-transfer`. `forebay copy` and the other verbs of trees start it.

#include "core/sys/process.hpp"
#include "core/terminal/print.hpp"
#include "core/terminal/srun_task.hpp"
#include "transfer/program/verbs.hpp"

int main(int count, char** arguments) {
    using namespace forebay::cli;
    forebay::sys::hold_standard_descriptors();  // libraries do not check which descriptor number they get
    forebay::sys::ignore_file_size_signal();
    const auto left = leave_to_first_task(count > 1 ? arguments[1] : "");
    if (!left) {
        print_error(left.error());
        return static_cast<int>(exit_of(left.error().kind));
    }
    if (*left) return **left;
    CommandLine line(transfer_summary);
    add_tree_verbs(line);
    add_archive(line);
    add_restore_archive(line);
    add_migrate(line);
    add_tree_worker(line);
    return line.run(count, arguments);
}

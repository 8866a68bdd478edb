// The class without MPI. It is in its own library, since both classes have one name.

#include <cstdio>
#include <cstdlib>

#include "bindings/compat/genericio/binding.hpp"
#include "bindings/compat/genericio/pending.hpp"
#include "core/base/show_text.hpp"

namespace gio {

namespace own = forebay::genericio;

namespace {

void at_end() {
    const auto finished = own::finish_all(forebay::made::Which::alone);
    if (!finished) std::fprintf(stderr, "%s\n", forebay::show_message(finished.error().text()).c_str());
}

}  // namespace

GenericIO::GenericIO(const std::string& file, unsigned) : state_(new State) {
    // finish_all() constructs the list of unfinished files before atexit() registers at_end, so the list still exists
    // when at_end runs.
    static const int registered = own::finish_all(forebay::made::Which::alone) ? std::atexit(at_end) : -1;
    static_cast<void>(registered);
    state_->data = make_data({forebay::behind::alone()}, file);
}

// As in GenericIO: without MPI there are no nodes to tell apart.
void GenericIO::setNaturalDefaultPartition() {}

}  // namespace gio

// include/forebay/forebay_mpi.h.

#include <mpi.h>

#include <utility>

#include "bindings/api/c_binding.hpp"
#include "core/base/try.hpp"
#include "core/comm/mpi_group.hpp"
#include "forebay/forebay_mpi.h"
#include "forebay/mpi.hpp"

using namespace forebay;

namespace {

// Options that are NULL become an error here, so that all ranks learn of it when they agree.
Result<Options> options_of(const fb_options* options) {
    FB_TRY(c_binding::given(options, "fb_options"));
    return options->value;
}

}  // namespace

fb_status fb_dedicate(int fortran_world, const fb_options* options, int* fortran_comm, fb_error* error) {
    return c_binding::guarded(error, [&]() -> Result<> {
        FB_TRY(comm::check_mpi());  // before a handle is converted
        FB_TRY_ASSIGN(comm, forebay::dedicate(MPI_Comm_f2c(fortran_world), options_of(options)));
        *fortran_comm = MPI_Comm_c2f(comm);
        return {};
    });
}

fb_status fb_open_mpi(int fortran_comm, const fb_options* options, fb_session** session, fb_error* error) {
    return c_binding::guarded(error, [&]() -> Result<> {
        FB_TRY(comm::check_mpi());
        FB_TRY_ASSIGN(opened, forebay::open(MPI_Comm_f2c(fortran_comm), options_of(options)));
        *session = new fb_session{std::move(opened)};
        return {};
    });
}

/* Forebay for C over an MPI communicator. Link forebay_mpi. */

#ifndef FOREBAY_FOREBAY_MPI_H
#define FOREBAY_FOREBAY_MPI_H

#include "forebay/forebay.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a session of all ranks of a communicator, which is duplicated. It crosses as MPI's Fortran handle:
 * MPI_Comm_c2f(comm) in C, comm%MPI_VAL with mpi_f08, comm.py2f() in mpi4py. MPI must be initialised, and finalised
 * only after the session is closed or freed. Collective. */
fb_status fb_open_mpi(int fortran_comm, const fb_options* options, fb_session** session, fb_error* error);

/* Splits agents off where agent.mode is "dedicated": the last agent.cores ranks of each machine. The others get a
 * communicator (as MPI's Fortran handle) to use instead of `fortran_world`, also for fb_open_mpi(). An agent stays in
 * this call until the ranks of its machine have called MPI_Finalize, and gets MPI_COMM_NULL: it goes on to
 * MPI_Finalize. With agent.forwarders the ranks of the last so many hosts do the same, until all that compute have
 * called it. With neither all ranks get a communicator. Once a process. Collective. */
fb_status fb_dedicate(int fortran_world, const fb_options* options, int* fortran_comm, fb_error* error);

#ifdef __cplusplus
}
#endif

#endif

/* Forebay for C over an MPI communicator. Link forebay_mpi. */

#ifndef FOREBAY_FOREBAY_MPI_H
#define FOREBAY_FOREBAY_MPI_H

#include "forebay/forebay.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a session of all ranks of a communicator, which it duplicates. Pass the communicator as MPI's Fortran handle:
 * MPI_Comm_c2f(comm) in C, comm%MPI_VAL with mpi_f08, comm.py2f() in mpi4py. Call MPI_Init before, and MPI_Finalize
 * only after the session is closed or freed. Collective. */
fb_status fb_open_mpi(int fortran_comm, const fb_options* options, fb_session** session, fb_error* error);

/* Splits ranks off that only write. With agent.mode = "dedicated" the last agent.cores ranks of each machine become its
 * agents. The other ranks get a communicator (as MPI's Fortran handle) to use in place of `fortran_world`, also for
 * fb_open_mpi(). An agent stays in this call until the ranks of its machine have called MPI_Finalize. It then gets
 * MPI_COMM_NULL, and only has to call MPI_Finalize itself. With agent.forwarders the ranks of that many last hosts do
 * the same, until all computing ranks have called MPI_Finalize. With neither, every rank gets a communicator. Call it
 * once a process. Collective. */
fb_status fb_dedicate(int fortran_world, const fb_options* options, int* fortran_comm, fb_error* error);

#ifdef __cplusplus
}
#endif

#endif

program first
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use forebay
  implicit none

  integer(int64), parameter :: cells = 1000000
  type(fb_session) :: session
  type(fb_stream) :: stream
  type(fb_restart) :: restart
  integer :: rank, ranks
  integer(int64) :: below, step, end_step
  real(real64), allocatable, target :: u(:)  ! this rank's part of a global array

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  below = cells*rank/ranks  ! cells of the ranks below this one
  allocate (u(cells*(rank + 1)/ranks - below))
  u = 0

  call session%open(MPI_COMM_WORLD, 'run1')
  call session%stream('restart', stream)
  call stream%array('u', fb_at(u), shape=[cells], start=[below + 1], unit='m/s')
  call stream%restore(restart)  ! the newest snapshot that reads whole, on any number of ranks
  step = 0
  if (restart%found()) step = restart%step()
  if (rank == 0) print '(a, i0)', 'starting after step ', step

  end_step = step + 5
  do while (step < end_step)
    step = step + 1
    u = u + 0.5_real64
    call stream%save(step)  ! one memory copy; the agent does the rest
  end do
  call session%close()
  call MPI_Finalize()
end program first

!> The ranks of the benchmark: how they start together, wait asleep, and how long the slowest takes.
module palm_ranks
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use palm_system, only: fail, sleep_us
  implicit none
  private
  public :: rank, rank_count, ranks_begin, rest, start_clock, stop_clock, sum_of, largest

  integer, protected :: rank = 0, rank_count = 1

  interface
    integer(c_int) function c_setenv(name, value, replace) bind(C, name='setenv')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int), value :: replace
    end function
  end interface

contains

  !> Open MPI takes ROMIO's MPI-IO unless the user chooses: it was the faster of its two for every way that uses it.
  subroutine ranks_begin()
    if (c_setenv('OMPI_MCA_io'//c_null_char, 'romio321'//c_null_char, 0) /= 0) call fail('no memory for the environment.')
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, rank_count)
  end subroutine

  !> A barrier that leaves the cores to whoever works: the slowest rank, or an agent that drains.
  subroutine rest()
    type(MPI_Request) :: all
    logical :: here
    call MPI_Ibarrier(MPI_COMM_WORLD, all)
    do
      call MPI_Test(all, here, MPI_STATUS_IGNORE)
      if (here) return
      call sleep_us(100)
    end do
  end subroutine

  !> All ranks begin at once; the clock in seconds.
  real(real64) function start_clock()
    call rest()
    call MPI_Barrier(MPI_COMM_WORLD)
    start_clock = now()
  end function

  !> Seconds from the first rank's start to the last one's end, on every rank.
  real(real64) function stop_clock(started) result(seconds)
    real(real64), intent(in) :: started
    call rest()
    seconds = largest(now() - started)
  end function

  real(real64) function now()
    integer(int64) :: count, rate
    call system_clock(count, rate)
    now = real(count, real64)/real(rate, real64)
  end function

  real(real64) function largest(own)
    real(real64), intent(in) :: own
    call MPI_Allreduce(own, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  end function

  integer(int64) function sum_of(own)
    integer(int64), intent(in) :: own
    call MPI_Allreduce(own, sum_of, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
  end function

end module palm_ranks

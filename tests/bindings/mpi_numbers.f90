! The parts of the module mpi_f08 that checkpoint_test.f90 uses. A Fortran compiler that cannot read the module files of
! the MPI here compiles this file instead. The routines are called without a module and serve every compiler.
module mpi_numbers
  implicit none
  include 'mpif.h'
end module

module mpi_f08
  use mpi_numbers, only: world_number => MPI_COMM_WORLD, integer_number => MPI_INTEGER, sum_number => MPI_SUM
  implicit none
  private
  public :: MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size, MPI_Allreduce
  type, bind(C), public :: MPI_Comm
    integer :: MPI_VAL
  end type
  type(MPI_Comm), parameter, public :: MPI_COMM_WORLD = MPI_Comm(world_number)
  integer, parameter, public :: MPI_INTEGER = integer_number, MPI_SUM = sum_number, MPI_IN_PLACE = 0

  interface
    subroutine plain_init(error) bind(C, name='mpi_init_')
      integer, intent(out) :: error
    end subroutine
    subroutine plain_finalize(error) bind(C, name='mpi_finalize_')
      integer, intent(out) :: error
    end subroutine
    subroutine plain_rank(comm, rank, error) bind(C, name='mpi_comm_rank_')
      integer, intent(in) :: comm
      integer, intent(out) :: rank, error
    end subroutine
    subroutine plain_size(comm, size, error) bind(C, name='mpi_comm_size_')
      integer, intent(in) :: comm
      integer, intent(out) :: size, error
    end subroutine
    subroutine plain_allreduce(from, to, count, type, op, comm, error) bind(C, name='mpi_allreduce_')
      integer, intent(in) :: from, count, type, op, comm
      integer, intent(out) :: to, error
    end subroutine
  end interface

contains

  subroutine MPI_Init()
    integer :: error
    call plain_init(error)
  end subroutine

  subroutine MPI_Finalize()
    integer :: error
    call plain_finalize(error)
  end subroutine

  subroutine MPI_Comm_rank(comm, rank)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out) :: rank
    integer :: error
    call plain_rank(comm%MPI_VAL, rank, error)
  end subroutine

  subroutine MPI_Comm_size(comm, size)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out) :: size
    integer :: error
    call plain_size(comm%MPI_VAL, size, error)
  end subroutine

  ! In place, of one number.
  subroutine MPI_Allreduce(from, to, count, type, op, comm)
    integer, intent(in) :: from, count, type, op
    integer, intent(inout) :: to
    type(MPI_Comm), intent(in) :: comm
    integer :: own, error
    own = to + from
    call plain_allreduce(own, to, count, type, op, comm%MPI_VAL, error)
  end subroutine

end module

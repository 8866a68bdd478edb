!> Ranks of the simulation that only write: fb_dedicate, which the module forebay exports.
module forebay_dedicate
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr
  use mpi_f08, only: MPI_Comm
  use forebay_c
  use forebay_texts
  implicit none
  private

  public :: fb_dedicate

  !> Splits ranks off that only write:
  !> call fb_dedicate(world, comm [, config] [, stat] [, errmsg])
  !>
  !> If the configuration has agent.mode = "dedicated", the last agent.cores ranks of each machine become its agents.
  !> The other ranks get comm: use it in place of world, also to open sessions. An agent stays in this call until the
  !> ranks of its machine have called MPI_Finalize. It then gets MPI_COMM_NULL, and only has to call MPI_Finalize
  !> itself. With agent.forwarders the ranks of that many last hosts do the same, until all computing ranks have called
  !> MPI_Finalize. world, comm: integers or type(MPI_Comm). Call it once a process. Collective.
  interface fb_dedicate
    procedure :: dedicate_integer, dedicate_f08
  end interface

contains

  subroutine dedicate_integer(world, comm, config, stat, errmsg)
    integer, intent(in) :: world
    integer, intent(out) :: comm
    character(len=*), intent(in), optional :: config
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: options
    type(c_error) :: error
    integer(c_int) :: status
    comm = world
    options = options_for('', config=config)
    status = c_dedicate(int(world, c_int), options, comm, error)
    call c_options_free(options)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine dedicate_f08(world, comm, config, stat, errmsg)
    type(MPI_Comm), intent(in) :: world
    type(MPI_Comm), intent(out) :: comm
    character(len=*), intent(in), optional :: config
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call dedicate_integer(world%MPI_VAL, comm%MPI_VAL, config, stat, errmsg)
  end subroutine

end module forebay_dedicate

!> The decomposition: ranks in two horizontal directions, with all levels. Indices are global: x 0..nx-1, y 0..ny-1;
!> levels 1..nz lie between the walls, levels 0 and nz+1 beyond them.
module les_grid
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use mpi_f08
  implicit none
  private

  integer, parameter, public :: wp = real64
  integer, parameter, public :: halo = 3  ! the reach of fifth-order advection

  type(MPI_Comm), protected, public :: comm
  integer, protected, public :: rank = 0, px = 1, py = 1           ! px ranks in x, py in y
  integer, protected, public :: west, east, south, north           ! neighbours; all directions are cyclic
  integer, protected, public :: nxl, nxr, nys, nyn                 ! this rank's first and last points
  public :: grid_split, give_up

contains

  !> wanted: ranks in x and in y. For 0 MPI chooses.
  subroutine grid_split(nx, ny, wanted)
    integer, intent(in) :: nx, ny, wanted(2)
    integer :: ranks, dims(2), place(2)
    character(len=200) :: text
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    dims = wanted
    if (any(dims < 0) .or. all(dims > 0) .and. product(dims) /= ranks .or. mod(ranks, max(dims(1), 1)) > 0 &
        .or. mod(ranks, max(dims(2), 1)) > 0) then
      write (text, '(a,i0,a,i0,a,i0,a)') 'ranks_x = ', dims(1), ' and ranks_y = ', dims(2), ' do not make ', ranks, ' ranks'
      call give_up(trim(text), 'set them to 0, or start another number of ranks')
    end if
    call MPI_Dims_create(ranks, 2, dims)
    px = dims(1)
    py = dims(2)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .true.], .false., comm)
    call MPI_Cart_coords(comm, rank, 2, place)
    call MPI_Cart_shift(comm, 0, 1, west, east)
    call MPI_Cart_shift(comm, 1, 1, south, north)
    nxl = nx*place(1)/px
    nxr = nx*(place(1) + 1)/px - 1
    nys = ny*place(2)/py
    nyn = ny*(place(2) + 1)/py - 1
    if (nx/px < halo .or. ny/py < halo) call give_up('a rank would have less than 3 points in a direction', &
                                                     'fewer ranks, or a larger grid')
  end subroutine

  !> Ends the program on all ranks, with an error in Forebay's form.
  subroutine give_up(what, next)
    character(len=*), intent(in) :: what, next
    write (error_unit, '(4a)') 'les: ', what, '.'//new_line('a')//'  Next: ', next
    flush (error_unit)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

end module les_grid

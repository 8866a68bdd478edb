!> Exchange of halos with the four neighbours, by MPI datatypes. No code packs by hand.
module les_halo
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use les_grid
  implicit none
  private

  integer(int64), target, public :: exchanges = 0
  public :: exchange

  interface exchange
    procedure exchange_volume, exchange_plane
  end interface

  type :: faces
    integer :: depth = 0
    type(MPI_Datatype) :: x, y
  end type
  type(faces), save :: face_types(2)  ! for volumes and for planes

contains

  subroutine exchange_volume(a)
    real(wp), contiguous, intent(inout) :: a(:, :, :)
    call swap(a, size(a, 1), face_types(1))
  end subroutine

  subroutine exchange_plane(a)
    real(wp), contiguous, intent(inout) :: a(:, :)
    call swap(a, 1, face_types(2))
  end subroutine

  ! First in x, then in y with the new halos of x: so corners need no extra messages.
  subroutine swap(a, depth, types)
    integer, intent(in) :: depth
    real(wp), intent(inout) :: a(depth, nys - halo:nyn + halo, nxl - halo:nxr + halo)
    type(faces), intent(inout) :: types
    if (types%depth /= depth) call make(types, depth)
    call MPI_Sendrecv(a(1, nys - halo, nxl), 1, types%x, west, 1, a(1, nys - halo, nxr + 1), 1, types%x, east, 1, comm, &
                      MPI_STATUS_IGNORE)
    call MPI_Sendrecv(a(1, nys - halo, nxr - halo + 1), 1, types%x, east, 2, a(1, nys - halo, nxl - halo), 1, types%x, &
                      west, 2, comm, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(a(1, nys, nxl - halo), 1, types%y, south, 3, a(1, nyn + 1, nxl - halo), 1, types%y, north, 3, comm, &
                      MPI_STATUS_IGNORE)
    call MPI_Sendrecv(a(1, nyn - halo + 1, nxl - halo), 1, types%y, north, 4, a(1, nys - halo, nxl - halo), 1, types%y, &
                      south, 4, comm, MPI_STATUS_IGNORE)
    exchanges = exchanges + 1
  end subroutine

  subroutine make(types, depth)
    type(faces), intent(out) :: types
    integer, intent(in) :: depth
    integer :: rows, columns
    rows = nyn - nys + 1 + 2*halo
    columns = nxr - nxl + 1 + 2*halo
    types%depth = depth
    call MPI_Type_contiguous(halo*rows*depth, MPI_DOUBLE_PRECISION, types%x)
    call MPI_Type_vector(columns, halo*depth, rows*depth, MPI_DOUBLE_PRECISION, types%y)
    call MPI_Type_commit(types%x)
    call MPI_Type_commit(types%y)
  end subroutine

end module les_halo

!> Saves or reads one variable of the restart list with PALM's calls, counts it, and adds its bits to a fingerprint. The
!> fingerprint is the same on any ranks.
module les_keep
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use forebay_checkpoint
  use les_grid
  use les_control, only: nx, ny, nz
  use les_fingerprint
  implicit none
  private

  integer, save :: dt_volume, dt_plane
  logical, save :: reads = .false.

  ! Classes of variables: the first three are equal on every rank, then planes, then each volume. Each class has a
  ! fingerprint.
  integer, parameter :: scalars = 1, lines = 2, fours = 3, flat = 4, volume = 4, classes = 13
  character(len=16), save :: names(classes)
  integer(int64), save :: sums(2, classes), elements(classes)
  integer, save :: counts(0:4)  ! by array rank

  public :: keep, keep_inner, keep_prepare, keep_begin, keep_end

  !> For variables equal on every rank.
  interface keep
    procedure keep_real, keep_integer, keep_long, keep_logical, keep_text, keep_line, keep_four
  end interface

  !> For distributed variables, without their halos.
  interface keep_inner
    procedure keep_plane, keep_volume
  end interface

contains

  subroutine keep_prepare()
    dt_volume = checkpoint_kind([nz + 2, ny, nx], [1, nys + 1, nxl + 1], [0, halo, halo], [0, halo, halo])
    dt_plane = checkpoint_kind([ny, nx], [nys + 1, nxl + 1], [halo, halo], [halo, halo])
  end subroutine

  subroutine keep_begin(reading)
    logical, intent(in) :: reading
    reads = reading
    names = ''
    names(:4) = [character(len=16) :: 'scalars', '1-D', '4-D', '2-D']
    sums = 0
    elements = 0
    counts = 0
  end subroutine

  !> Prints counts and fingerprints.
  subroutine keep_end(what, step)
    character(len=*), intent(in) :: what
    integer, intent(in) :: step
    integer(int64) :: bounds(4, 3)
    integer :: n
    bounds(:2, :) = sums(:, :fours)
    bounds(3:, :) = -sums(:, :fours)
    call MPI_Allreduce(MPI_IN_PLACE, bounds, 12, MPI_INTEGER8, MPI_MAX, comm)
    if (any(bounds(:2, :) /= -bounds(3:, :))) &
      call give_up('ranks differ in a variable that must be equal on all', 'this is a fault of les or of Forebay: report it')
    call MPI_Allreduce(MPI_IN_PLACE, sums(:, flat:), 2*(classes - fours), MPI_INTEGER8, MPI_SUM, comm)
    if (rank /= 0) return
    print '(2a,i0,a,5(i0,a))', what, ' step ', step, ': ', counts(0), ' scalars, ', counts(1), ' 1-D, ', counts(2), &
      ' 2-D, ', counts(3), ' 3-D, ', counts(4), ' 4-D'
    do n = 1, classes
      print '(2a,i0,4a)', what, ' ', step, ' hash ', names(n), ' ', fingerprint_text(sums(:, n))
    end do
    flush (6)
  end subroutine

  subroutine move(name, array, kind)
    character(len=*), intent(in) :: name
    type(*), dimension(..), intent(inout), target :: array
    integer, intent(in) :: kind
    if (reads) then
      call checkpoint_read(name, array, kind)
    else
      call checkpoint_write(name, array, kind)
    end if
  end subroutine

  subroutine keep_real(name, x)
    character(len=*), intent(in) :: name
    real(wp), target, intent(inout) :: x
    call move(name, x, dt_replicated)
    call add(scalars, 0, [transfer(x, 0_int64)])
  end subroutine

  subroutine keep_integer(name, x)
    character(len=*), intent(in) :: name
    integer, target, intent(inout) :: x
    call move(name, x, dt_replicated)
    call add(scalars, 0, [int(x, int64)])
  end subroutine

  subroutine keep_long(name, x)
    character(len=*), intent(in) :: name
    integer(int64), target, intent(inout) :: x
    call move(name, x, dt_replicated)
    call add(scalars, 0, [x])
  end subroutine

  subroutine keep_logical(name, x)
    character(len=*), intent(in) :: name
    logical, target, intent(inout) :: x
    call move(name, x, dt_replicated)
    call add(scalars, 0, [merge(1_int64, 0_int64, x)])
  end subroutine

  subroutine keep_text(name, x)
    character(len=*), intent(in) :: name
    character(len=*), target, intent(inout) :: x
    integer :: n
    call move(name, x, dt_replicated)
    call add(scalars, 0, [(int(iachar(x(n:n)), int64), n=1, len(x))])
  end subroutine

  subroutine keep_line(name, x)
    character(len=*), intent(in) :: name
    real(wp), target, intent(inout) :: x(:)
    call move(name, x, dt_replicated)
    call add(lines, 1, transfer(x, [0_int64]))
  end subroutine

  subroutine keep_four(name, x)
    character(len=*), intent(in) :: name
    real(wp), target, intent(inout) :: x(:, :, :, :)
    call move(name, x, dt_replicated)
    call add(fours, 4, transfer(x, [0_int64]))
  end subroutine

  subroutine keep_plane(name, x)
    character(len=*), intent(in) :: name
    real(wp), target, intent(inout) :: x(nys - halo:, nxl - halo:)
    integer :: i, j
    call move(name, x, dt_plane)
    do i = nxl, nxr
      do j = nys, nyn
        call fingerprint_add(sums(:, flat), transfer(x(j, i), 0_int64), (int(counts(2), int64)*nx + i)*ny + j)
      end do
    end do
    counts(2) = counts(2) + 1
  end subroutine

  subroutine keep_volume(name, x)
    character(len=*), intent(in) :: name
    real(wp), target, intent(inout) :: x(0:, nys - halo:, nxl - halo:)
    integer :: i, j, k
    call move(name, x, dt_volume)
    counts(3) = counts(3) + 1
    names(volume + counts(3)) = name
    do i = nxl, nxr
      do j = nys, nyn
        do k = 0, nz + 1
          call fingerprint_add(sums(:, volume + counts(3)), transfer(x(k, j, i), 0_int64), &
                               (int(i, int64)*ny + j)*(nz + 2) + k)
        end do
      end do
    end do
  end subroutine

  subroutine add(class, rank_of, bits)
    integer, intent(in) :: class, rank_of
    integer(int64), intent(in) :: bits(:)
    integer :: n
    do n = 1, size(bits)
      call fingerprint_add(sums(:, class), bits(n), elements(class))
      elements(class) = elements(class) + 1
    end do
    counts(rank_of) = counts(rank_of) + 1
  end subroutine

end module les_keep

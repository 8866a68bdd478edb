! The calls of H5Part for Fortran 77 from a program that knows nothing else: writes and reads back, serial and over MPI.
program fortran
  use mpi
  implicit none
  integer(8), external :: h5pt_openw, h5pt_openr, h5pt_openw_align, h5pt_close, h5pt_setstep, h5pt_setnpoints
  integer(8), external :: h5pt_setnpoints_strided, h5pt_writedata_r8, h5pt_writedata_r4, h5pt_writedata_i8, h5pt_writedata_i4
  integer(8), external :: h5pt_readdata_r8, h5pt_readdata_r4, h5pt_readdata_i8, h5pt_readdata_i4, h5pt_getnsteps
  integer(8), external :: h5pt_getndatasets, h5pt_getnpoints, h5pt_getdatasetname, h5pt_setview, h5pt_setview_indices
  integer(8), external :: h5pt_resetview, h5pt_hasview, h5pt_getview, h5pt_set_verbosity_level
  integer(8), external :: h5pt_writefileattrib_string, h5pt_writestepattrib_string, h5pt_readfileattrib_string
  integer(8), external :: h5pt_readstepattrib_string, h5pt_writefileattrib_r8, h5pt_readfileattrib_r8
  integer(8), external :: h5pt_writestepattrib_i4, h5pt_readstepattrib_i4, h5pt_writestepattrib_i8, h5pt_readstepattrib_i8
  integer(8), external :: h5pt_writefileattrib_r4, h5pt_readfileattrib_r4
  integer(8), external :: h5pt_openw_par, h5pt_openr_par, h5pt_opena_par, h5pt_openw_par_align
  integer, parameter :: n = 60
  integer :: rank, ranks, ierror, failures, everywhere
  integer(8) :: f

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  failures = 0
  call expect(h5pt_set_verbosity_level(1_8) == 0, 'verbosity')
  if (rank == 0) call serial()
  call parallel()
  call MPI_Allreduce(failures, everywhere, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
  if (everywhere /= 0) stop 1

contains

  subroutine expect(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    write (*, '(a,i0,2a)') 'rank ', rank, ': ', what
    failures = failures + 1
  end subroutine

  subroutine serial()
    real(8) :: x(n), back(n), pairs(2, n), three(3)
    real(4) :: w(n), w_back(n), single(1)
    integer(8) :: id(n), first, last, big(1)
    integer(4) :: kind_of(n), number(1)
    character(20) :: text
    integer :: i
    x = [(0.5d0*i, i=1, n)]
    w = [(0.25*i, i=1, n)]
    id = [(7000000000_8 + i, i=1, n)]
    kind_of = [(mod(i, 5), i=1, n)]
    pairs(1, :) = x
    pairs(2, :) = -x
    f = h5pt_openw_align('fortran.h5part   ', 1048576_8)
    call expect(f /= 0, 'openw_align')
    call expect(h5pt_writefileattrib_string(f, 'author', 'someone  ') == 0, 'writefileattrib_string')
    call expect(h5pt_writefileattrib_r8(f, 'box', [1d0, 2d0, 3d0], 3_8) == 0, 'writefileattrib_r8')
    call expect(h5pt_writefileattrib_r4(f, 'one', [1.5], 1_8) == 0, 'writefileattrib_r4')
    call expect(h5pt_setstep(f, 1_8) == 0, 'setstep') ! Step#0
    call expect(h5pt_setnpoints(f, int(n, 8)) == 0, 'setstep')
    call expect(h5pt_writedata_r8(f, 'x', x) == 0, 'writedata of reals')
    call expect(h5pt_writedata_r4(f, 'w', w) == 0, 'writedata of reals')
    call expect(h5pt_writedata_i8(f, 'id', id) == 0, 'of integers')
    call expect(h5pt_writedata_i4(f, 'kind', kind_of) == 0, 'of integers')
    call expect(h5pt_setnpoints_strided(f, int(n, 8), 2_8) == 0, 'setnpoints_strided')
    call expect(h5pt_writedata_r8(f, 'minus', pairs(2, 1)) == 0, 'strided writedata')
    call expect(h5pt_writestepattrib_string(f, 'note', 'first') == 0, 'writestepattrib_string')
    call expect(h5pt_writestepattrib_i4(f, 'number', [4], 1_8) == 0, 'writestepattrib_i4')
    call expect(h5pt_writestepattrib_i8(f, 'big', [2_8**40], 1_8) == 0, 'writestepattrib_i8')
    call expect(h5pt_close(f) == 0, 'close')

    f = h5pt_openr('fortran.h5part')
    call expect(f /= 0, 'openr')
    call expect(h5pt_getnsteps(f) == 1, 'openr')
    call expect(h5pt_setstep(f, 1_8) == 0, 'openr')
    call expect(h5pt_getndatasets(f) == 5, 'getndatasets')
    call expect(h5pt_getnpoints(f) == n, 'getndatasets')
    call expect(h5pt_getdatasetname(f, 1_8, text) == 0, 'getdatasetname')
    call expect(text == 'kind', 'getdatasetname')
    call expect(h5pt_readdata_r8(f, 'x', back) == 0, 'readdata_r8')
    call expect(all(transfer(back, id) == transfer(x, id)), 'readdata_r8')
    call expect(h5pt_readdata_r8(f, 'minus', back) == 0, 'strided')
    call expect(all(transfer(back, id) == transfer(-x, id)), 'strided')
    call expect(h5pt_readdata_r4(f, 'w', w_back) == 0, 'r4')
    call expect(all(transfer(w_back, kind_of) == transfer(w, kind_of)), 'r4')
    id = 0
    call expect(h5pt_setview(f, 11_8, 20_8) == 0, 'setview')
    call expect(h5pt_hasview(f) == 1, 'setview')
    call expect(h5pt_getnpoints(f) == 10, 'setview')
    call expect(h5pt_readdata_i8(f, 'id', id) == 0, 'readdata_i8')
    call expect(id(1) == 7000000011_8, 'readdata_i8')
    call expect(id(11) == 0, 'readdata_i8')
    call expect(h5pt_getview(f, first, last) == 10, 'getview')
    call expect(first == 10, 'getview')
    call expect(last == 19, 'getview')
    call expect(h5pt_setview_indices(f, [59_8, 0_8], 2_8) == 0, 'setview_indices')
    call expect(h5pt_readdata_i4(f, 'kind', kind_of) == 0, 'readdata_i4')
    call expect(all(kind_of(:2) == [0, 1]), 'readdata_i4')
    call expect(h5pt_resetview(f) == 0, 'resetview')
    call expect(h5pt_hasview(f) == 0, 'resetview')
    text = 'xxxxxxxxxxxxxxxxxxxx'
    call expect(h5pt_readfileattrib_string(f, 'author', text) == 0, 'readfileattrib_string')
    call expect(text == 'someone', 'readfileattrib_string')
    call expect(h5pt_readstepattrib_string(f, 'note', text(:3)) == 0, 'a text that is cut')
    call expect(text == 'fireone', 'a text that is cut')
    call expect(h5pt_readfileattrib_r8(f, 'box', three) == 0, 'readfileattrib_r8')
    call expect(nint(three(3)) == 3, 'readfileattrib_r8')
    call expect(h5pt_readfileattrib_r4(f, 'one', single) == 0, 'readfileattrib_r4')
    call expect(nint(2*single(1)) == 3, 'readfileattrib_r4')
    call expect(h5pt_readstepattrib_i4(f, 'number', number) == 0, 'readstepattrib_i4')
    call expect(number(1) == 4, 'readstepattrib_i4')
    call expect(h5pt_readstepattrib_i8(f, 'big', big) == 0, 'readstepattrib_i8')
    call expect(big(1) == 2_8**40, 'readstepattrib_i8')
    call expect(h5pt_close(f) == 0, 'close a reader')
  end subroutine

  subroutine parallel()
    real(8) :: own_values(n), all_of_them(n*ranks)
    integer :: i, step
    f = h5pt_openw_par_align('parallel.h5part', MPI_COMM_WORLD, 65536_8, 'fs_lustre,vfd_mpio_ind')
    call expect(f /= 0, 'openw_par_align')
    do step = 1, 2
      if (step == 2) f = h5pt_opena_par('parallel.h5part', MPI_COMM_WORLD)
      own_values = [(1d3*step + rank*n + i, i=1, n)]
      call expect(h5pt_setstep(f, int(step, 8)) == 0, 'setstep over MPI')
      call expect(h5pt_setnpoints(f, int(n, 8)) == 0, 'setstep over MPI')
      call expect(h5pt_writedata_r8(f, 'mine', own_values) == 0, 'write over MPI')
      call expect(h5pt_close(f) == 0, 'write over MPI')
    end do
    f = h5pt_openr_par('parallel.h5part', MPI_COMM_WORLD)
    call expect(f /= 0, 'openr_par')
    call expect(h5pt_getnsteps(f) == 2, 'openr_par')
    call expect(h5pt_setstep(f, 2_8) == 0, 'openr_par')
    call expect(h5pt_readdata_r8(f, 'mine', all_of_them) == 0, 'read over MPI')
    call expect(all(nint(all_of_them) == [(2000 + i, i=1, n*ranks)]), 'values over MPI')
    call expect(h5pt_close(f) == 0, 'close over MPI')
    f = h5pt_openw_par(merge('even.h5part', 'odd.h5part ', mod(rank, 2) == 0), MPI_COMM_SELF)
    call expect(f /= 0, 'openw_par over a rank alone')
    call expect(h5pt_close(f) == 0, 'openw_par over a rank alone')
  end subroutine
end program

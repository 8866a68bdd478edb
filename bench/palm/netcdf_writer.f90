!> Parallel netCDF-4, by its C interface: one file, a contiguous variable for each of ours. Distributed ones are written
!> collectively, without ghost layers; what is equal on every rank is written by rank 0 alone, and read by each.
module palm_netcdf
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08, only: MPI_COMM_WORLD
  use palm_data, only: item, of_character, of_integer, pack_item, unpack_item
  use palm_hints, only: file_hints
  use palm_ranks, only: rank
  use palm_system, only: fail
  use palm_writer, only: file_writer
  implicit none
  private
  public :: netcdf_writer, make_netcdf_writer

  type, extends(file_writer) :: netcdf_writer
  contains
    procedure :: create => netcdf_create
    procedure :: restore => netcdf_restore
  end type

  ! Of netcdf.h and netcdf_par.h.
  integer(c_int), parameter :: nc_netcdf4 = 4096, nc_nowrite = 0, nc_nofill = 256, nc_char = 2, nc_int = 4, nc_double = 6, &
                               nc_collective = 1
  !> Arrays from this size on begin at a multiple of it.
  integer(c_int), parameter :: alignment = 1048576

  interface
    integer(c_int) function nc_create_par(path, mode, comm, info, file) bind(C, name='nc_create_par_fortran')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: mode, comm, info
      integer(c_int), intent(out) :: file
    end function
    integer(c_int) function nc_open_par(path, mode, comm, info, file) bind(C, name='nc_open_par_fortran')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: mode, comm, info
      integer(c_int), intent(out) :: file
    end function
    integer(c_int) function nc_set_alignment(threshold, bytes) bind(C, name='nc_set_alignment')
      import :: c_int
      integer(c_int), value :: threshold, bytes
    end function
    integer(c_int) function nc_set_fill(file, mode, old) bind(C, name='nc_set_fill')
      import :: c_int
      integer(c_int), value :: file, mode
      integer(c_int), intent(out) :: old
    end function
    integer(c_int) function nc_def_dim(file, name, extent, dimension) bind(C, name='nc_def_dim')
      import :: c_char, c_int, c_size_t
      integer(c_int), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: extent
      integer(c_int), intent(out) :: dimension
    end function
    integer(c_int) function nc_def_var(file, name, kind, dims, dimensions, variable) bind(C, name='nc_def_var')
      import :: c_char, c_int
      integer(c_int), value :: file, kind, dims
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(in) :: dimensions(*)
      integer(c_int), intent(out) :: variable
    end function
    integer(c_int) function nc_enddef(file) bind(C, name='nc_enddef')
      import :: c_int
      integer(c_int), value :: file
    end function
    integer(c_int) function nc_inq_varid(file, name, variable) bind(C, name='nc_inq_varid')
      import :: c_char, c_int
      integer(c_int), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: variable
    end function
    integer(c_int) function nc_var_par_access(file, variable, how) bind(C, name='nc_var_par_access')
      import :: c_int
      integer(c_int), value :: file, variable, how
    end function
    integer(c_int) function nc_put_vara(file, variable, start, count, memory) bind(C, name='nc_put_vara')
      import :: c_int, c_size_t, c_ptr
      integer(c_int), value :: file, variable
      integer(c_size_t), intent(in) :: start(*), count(*)
      type(c_ptr), value :: memory
    end function
    integer(c_int) function nc_get_vara(file, variable, start, count, memory) bind(C, name='nc_get_vara')
      import :: c_int, c_size_t, c_ptr
      integer(c_int), value :: file, variable
      integer(c_size_t), intent(in) :: start(*), count(*)
      type(c_ptr), value :: memory
    end function
    integer(c_int) function nc_close(file) bind(C, name='nc_close')
      import :: c_int
      integer(c_int), value :: file
    end function
    type(c_ptr) function nc_strerror(status) bind(C, name='nc_strerror')
      import :: c_int, c_ptr
      integer(c_int), value :: status
    end function
    integer(c_size_t) function c_strlen(text) bind(C, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
  end interface

contains

  subroutine make_netcdf_writer(new_writer)
    type(netcdf_writer), intent(out) :: new_writer
    new_writer%name = 'netcdf'
    call check(nc_set_alignment(alignment, alignment), 'set the alignment')
  end subroutine

  subroutine netcdf_create(self)
    class(netcdf_writer), intent(inout) :: self
    integer(c_int) :: file, old
    integer(c_int) :: variables(size(self%data%items))
    integer :: i
    self%path = self%directory//'/palm.nc'
    call check(nc_create_par(self%path//c_null_char, nc_netcdf4, MPI_COMM_WORLD%MPI_VAL, file_hints%MPI_VAL, file), &
               'create the file')
    call check(nc_set_fill(file, nc_nofill, old), 'do without fill values')
    do i = 1, size(variables)
      call define(file, self%data%items(i), variables(i))
    end do
    call check(nc_enddef(file), 'end the definitions')
    do i = 1, size(variables)
      call write_item(file, variables(i), self%data%items(i), self%data%buffer)
    end do
    call check(nc_close(file), 'close the file')
  end subroutine

  subroutine netcdf_restore(self)
    class(netcdf_writer), intent(inout) :: self
    integer(c_int) :: file
    integer :: i
    call check(nc_open_par(self%path//c_null_char, nc_nowrite, MPI_COMM_WORLD%MPI_VAL, file_hints%MPI_VAL, file), &
               'open the file')
    do i = 1, size(self%data%items)
      call read_item(file, self%data%items(i), self%data%buffer)
    end do
    call check(nc_close(file), 'close the file')
  end subroutine

  ! C counts dimensions from the slowest on.
  subroutine define(file, field, variable)
    integer(c_int), intent(in) :: file
    type(item), intent(in) :: field
    integer(c_int), intent(out) :: variable
    integer(c_int) :: dimensions(4), kind
    character(len=2) :: suffix
    integer :: d
    dimensions = 0
    do d = 1, field%dims
      write (suffix, '("_",i1)') d
      call check(nc_def_dim(file, trim(field%name)//suffix//c_null_char, field%shape(field%dims + 1 - d), dimensions(d)), &
                 'define a dimension of '//trim(field%name))
    end do
    kind = nc_double
    if (field%element_bytes == of_integer) kind = nc_int
    if (field%element_bytes == of_character) kind = nc_char
    call check(nc_def_var(file, trim(field%name)//c_null_char, kind, field%dims, dimensions, variable), &
               'define '//trim(field%name))
  end subroutine

  subroutine write_item(file, variable, field, buffer)
    integer(c_int), intent(in) :: file, variable
    type(item), intent(in) :: field
    integer(int64), intent(inout), target :: buffer(:)
    type(c_ptr) :: memory
    integer :: n
    if (.not. field%distributed .and. rank > 0) return
    if (field%distributed) call check(nc_var_par_access(file, variable, nc_collective), 'write collectively')
    memory = field%address()
    if (any(field%halo > 0)) then
      call pack_item(field, buffer)
      memory = c_loc(buffer)
    end if
    n = field%dims
    call check(nc_put_vara(file, variable, field%start(n:1:-1) - 1, field%count(n:1:-1), memory), 'write '//trim(field%name))
  end subroutine

  subroutine read_item(file, field, buffer)
    integer(c_int), intent(in) :: file
    type(item), intent(inout) :: field
    integer(int64), intent(inout), target :: buffer(:)
    integer(c_int) :: variable
    type(c_ptr) :: memory
    integer :: n
    call check(nc_inq_varid(file, trim(field%name)//c_null_char, variable), 'find '//trim(field%name))
    if (field%distributed) call check(nc_var_par_access(file, variable, nc_collective), 'read collectively')
    memory = field%address()
    if (any(field%halo > 0)) memory = c_loc(buffer)
    n = field%dims
    call check(nc_get_vara(file, variable, field%start(n:1:-1) - 1, field%count(n:1:-1), memory), 'read '//trim(field%name))
    if (any(field%halo > 0)) call unpack_item(field, buffer)
  end subroutine

  subroutine check(status, what)
    integer(c_int), intent(in) :: status
    character(len=*), intent(in) :: what
    character(kind=c_char), pointer :: letters(:)
    character(len=200) :: text
    integer :: i
    if (status == 0) return
    call c_f_pointer(nc_strerror(status), letters, [c_strlen(nc_strerror(status))])
    text = ''
    do i = 1, min(size(letters), len(text))
      text(i:i) = letters(i)
    end do
    call fail('netcdf: cannot '//what//': '//text)
  end subroutine

end module palm_netcdf

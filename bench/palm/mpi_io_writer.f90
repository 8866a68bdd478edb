!> PALM's `mpi`: one file with a header of fixed places (scalars, and the names and offsets of arrays), then the arrays one
!> after the other. Distributed ones go without ghost layers through a buffer and a file view of a subarray, by a
!> collective write; what is equal on every rank is written by rank 0, and read by it and broadcast. The header is
!> written last.
module palm_mpi_io
  use, intrinsic :: iso_c_binding, only: c_f_pointer
  use, intrinsic :: iso_fortran_env, only: int32, int64, int8, real64
  use mpi_f08
  use palm_data, only: item, mix, of_character, of_integer, of_real, pack_item, unpack_item
  use palm_hints, only: file_hints
  use palm_ranks, only: rank
  use palm_system, only: fail
  use palm_writer, only: file_writer
  implicit none
  private
  public :: mpi_io_writer

  type, extends(file_writer) :: mpi_io_writer
  contains
    procedure :: create => mpi_io_create
    procedure :: restore => mpi_io_restore
  end type

  !> Byte offsets of the header's parts, as in PALM's files.
  integer(int64), parameter :: int_names = 40, int_values = 8232, texts = 9256, real_names = 25640, &
                               real_values = 33832, array_names = 35880, array_offsets = 55080, header_bytes = 59880, &
                               first_array = 131072
  integer, parameter :: name_bytes = 32, text_bytes = 128

contains

  subroutine mpi_io_create(self)
    class(mpi_io_writer), intent(inout) :: self
    type(MPI_File) :: file
    integer(int8) :: header(header_bytes)
    integer(int64) :: offset
    integer :: i, arrays, status
    self%path = self%directory//'/binary.mpi'
    header = 0
    call header_counts(self%data, header)
    call MPI_File_open(MPI_COMM_WORLD, self%path, MPI_MODE_CREATE + MPI_MODE_WRONLY, file_hints, file, status)
    call check(status, 'open')
    offset = first_array
    arrays = 0
    do i = 1, size(self%data%items)
      associate (field => self%data%items(i))
        if (field%dims == 0) then
          call scalar_to_header(self%data, i, header)
          cycle
        end if
        call put(header, array_names + name_bytes*arrays, transfer(field%name, header))
        call put(header, array_offsets + 8_int64*arrays, transfer(offset, header))
        arrays = arrays + 1
        call write_array(file, field, offset, self%data%buffer)
        offset = offset + product(field%shape)*field%element_bytes
      end associate
    end do
    call look_at_bytes(file)
    if (rank == 0) then
      call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, header, size(header), MPI_BYTE, MPI_STATUS_IGNORE, status)
      call check(status, 'write the header')
    end if
    call MPI_File_close(file, status)
    call check(status, 'close')
  end subroutine

  subroutine mpi_io_restore(self)
    class(mpi_io_writer), intent(inout) :: self
    type(MPI_File) :: file
    integer(int8) :: header(header_bytes)
    integer :: i, status
    call MPI_File_open(MPI_COMM_WORLD, self%path, MPI_MODE_RDONLY, file_hints, file, status)
    call check(status, 'open')
    if (rank == 0) then
      call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, header, size(header), MPI_BYTE, MPI_STATUS_IGNORE, status)
      call check(status, 'read the header')
    end if
    call MPI_Bcast(header, size(header), MPI_BYTE, 0, MPI_COMM_WORLD)
    do i = 1, size(self%data%items)
      if (self%data%items(i)%dims == 0) then
        call scalar_from_header(self%data, i, header)
      else
        call read_array(file, self%data%items(i), offset_of(header, self%data%items(i)%name), self%data%buffer)
      end if
    end do
    call MPI_File_close(file, status)
    call check(status, 'close')
  end subroutine

  ! ---- arrays ----

  subroutine write_array(file, field, offset, buffer)
    type(MPI_File), intent(in) :: file
    type(item), intent(in) :: field
    integer(int64), intent(in) :: offset
    integer(int64), intent(inout) :: buffer(:)
    integer :: status, count
    status = MPI_SUCCESS
    count = int(field%own_bytes()/of_real)
    if (.not. field%distributed) then
      call look_at_bytes(file)
      if (rank == 0) call MPI_File_write_at(file, offset, field%words, count, MPI_INTEGER8, MPI_STATUS_IGNORE, status)
    else
      call look_at_part(file, field, offset)
      if (all(field%halo == 0)) then
        call MPI_File_write_all(file, field%words, count, MPI_INTEGER8, MPI_STATUS_IGNORE, status)
      else
        call pack_item(field, buffer)
        call MPI_File_write_all(file, buffer, count, MPI_INTEGER8, MPI_STATUS_IGNORE, status)
      end if
    end if
    call check(status, 'write '//trim(field%name))
  end subroutine

  subroutine read_array(file, field, offset, buffer)
    type(MPI_File), intent(in) :: file
    type(item), intent(inout) :: field
    integer(int64), intent(in) :: offset
    integer(int64), intent(inout) :: buffer(:)
    integer :: status, count
    status = MPI_SUCCESS
    count = int(field%own_bytes()/of_real)
    if (.not. field%distributed) then
      call look_at_bytes(file)
      if (rank == 0) call MPI_File_read_at(file, offset, field%words, count, MPI_INTEGER8, MPI_STATUS_IGNORE, status)
      call MPI_Bcast(field%words, count, MPI_INTEGER8, 0, MPI_COMM_WORLD)
    else
      call look_at_part(file, field, offset)
      if (all(field%halo == 0)) then
        call MPI_File_read_all(file, field%words, count, MPI_INTEGER8, MPI_STATUS_IGNORE, status)
      else
        call MPI_File_read_all(file, buffer, count, MPI_INTEGER8, MPI_STATUS_IGNORE, status)
        call unpack_item(field, buffer)
      end if
    end if
    call check(status, 'read '//trim(field%name))
  end subroutine

  subroutine look_at_part(file, field, offset)
    type(MPI_File), intent(in) :: file
    type(item), intent(in) :: field
    integer(int64), intent(in) :: offset
    type(MPI_Datatype) :: part
    integer :: n, status
    n = field%dims
    call MPI_Type_create_subarray(n, int(field%shape(:n)), int(field%count(:n)), int(field%start(:n) - 1), MPI_ORDER_FORTRAN, &
                                  MPI_INTEGER8, part)
    call MPI_Type_commit(part)
    call MPI_File_set_view(file, offset, MPI_INTEGER8, part, 'native', MPI_INFO_NULL, status)
    call check(status, 'set the view of '//trim(field%name))
    call MPI_Type_free(part)
  end subroutine

  subroutine look_at_bytes(file)
    type(MPI_File), intent(in) :: file
    integer :: status
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, status)
    call check(status, 'set the view')
  end subroutine

  ! ---- the header ----

  subroutine header_counts(data, header)
    type(mix), intent(in) :: data
    integer(int8), intent(inout) :: header(:)
    integer(int32) :: counts(10)
    counts = [1, 0, count(data%items%dims > 0), number_of(data, of_character), number_of(data, of_integer), &
              number_of(data, of_real), 0, 0, int(data%nx), int(data%ny)]
    call put(header, 0_int64, transfer(counts, header))
  end subroutine

  integer function number_of(data, element_bytes)
    type(mix), intent(in) :: data
    integer, intent(in) :: element_bytes
    number_of = count(data%items%dims == 0 .and. data%items%element_bytes == element_bytes)
  end function

  ! Where name and value of a scalar lie: it is the so manieth of its kind.
  subroutine scalar_places(data, i, name_at, value_at)
    type(mix), intent(in) :: data
    integer, intent(in) :: i
    integer(int64), intent(out) :: name_at, value_at
    integer(int64) :: before
    before = count(data%items(:i - 1)%dims == 0 .and. data%items(:i - 1)%element_bytes == data%items(i)%element_bytes)
    select case (data%items(i)%element_bytes)
    case (of_integer)
      name_at = int_names + name_bytes*before
      value_at = int_values + of_integer*before
    case (of_real)
      name_at = real_names + name_bytes*before
      value_at = real_values + of_real*before
    case default
      name_at = texts + text_bytes*before
      value_at = name_at + name_bytes
    end select
  end subroutine

  subroutine scalar_to_header(data, i, header)
    type(mix), intent(in) :: data
    integer, intent(in) :: i
    integer(int8), intent(inout) :: header(:)
    integer(int8), pointer, contiguous :: bytes(:)
    integer(int64) :: name_at, value_at
    call scalar_places(data, i, name_at, value_at)
    call c_f_pointer(data%items(i)%address(), bytes, [data%items(i)%element_bytes])
    call put(header, name_at, transfer(data%items(i)%name, header))
    call put(header, value_at, bytes)
  end subroutine

  subroutine scalar_from_header(data, i, header)
    type(mix), intent(inout) :: data
    integer, intent(in) :: i
    integer(int8), intent(in) :: header(:)
    integer(int8), pointer, contiguous :: bytes(:)
    integer(int64) :: name_at, value_at
    call scalar_places(data, i, name_at, value_at)
    if (text_at(header, name_at) /= data%items(i)%name) call fail('mpi-io: no scalar '//trim(data%items(i)%name)//'.')
    call c_f_pointer(data%items(i)%address(), bytes, [data%items(i)%element_bytes])
    bytes = header(value_at + 1:value_at + size(bytes))
  end subroutine

  integer(int64) function offset_of(header, name) result(offset)
    integer(int8), intent(in) :: header(:)
    character(len=*), intent(in) :: name
    integer(int64) :: at
    integer :: i
    offset = -1
    do i = 0, transfer(header(9:12), 0_int32) - 1
      at = array_offsets + 8_int64*i
      offset = transfer(header(at + 1:at + 8), offset)
      if (text_at(header, array_names + int(name_bytes, int64)*i) == name) return
    end do
    call fail('mpi-io: no array '//trim(name)//'.')
  end function

  pure subroutine put(header, at, bytes)
    integer(int8), intent(inout) :: header(:)
    integer(int64), intent(in) :: at
    integer(int8), intent(in) :: bytes(:)
    header(at + 1:at + size(bytes)) = bytes
  end subroutine

  pure function text_at(header, at) result(text)
    integer(int8), intent(in) :: header(:)
    integer(int64), intent(in) :: at
    character(len=name_bytes) :: text
    text = transfer(header(at + 1:at + name_bytes), text)
  end function

  ! ---- MPI ----

  subroutine check(status, what)
    integer, intent(in) :: status
    character(len=*), intent(in) :: what
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: length
    if (status == MPI_SUCCESS) return
    call MPI_Error_string(status, text, length)
    call fail('mpi-io: cannot '//what//': '//text(:length))
  end subroutine

end module palm_mpi_io

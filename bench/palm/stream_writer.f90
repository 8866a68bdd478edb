!> PALM's `fortran_binary`: a sequential unformatted file for each rank. Of each variable three records: the length of its
!> name, the name, the array with its ghost layers.
module palm_stream
  use, intrinsic :: iso_c_binding, only: c_f_pointer
  use, intrinsic :: iso_fortran_env, only: int32, int8, real64
  use palm_data, only: of_real
  use palm_ranks, only: rank
  use palm_system, only: fail
  use palm_writer, only: file_writer
  implicit none
  private
  public :: stream_writer

  type, extends(file_writer) :: stream_writer
  contains
    procedure :: create => stream_create
    procedure :: restore => stream_restore
  end type

contains

  subroutine stream_create(self)
    class(stream_writer), intent(inout) :: self
    character(len=200) :: message
    character(len=6) :: number
    real(real64), pointer, contiguous :: reals(:)
    integer(int8), pointer, contiguous :: bytes(:)
    integer :: unit, status, i
    write (number, '(i6.6)') rank
    self%path = self%directory//'/'//number
    open (newunit=unit, file=self%path, form='unformatted', status='replace', action='write', iostat=status, iomsg=message)
    if (status /= 0) call fail('stream: '//message)
    do i = 1, size(self%data%items)
      associate (field => self%data%items(i))
        write (unit, iostat=status, iomsg=message) len_trim(field%name, int32)
        if (status == 0) write (unit, iostat=status, iomsg=message) trim(field%name)
        if (status /= 0) call fail('stream: '//message)
        if (field%element_bytes == of_real) then
          call c_f_pointer(field%address(), reals, [field%local_bytes()/of_real])
          write (unit, iostat=status, iomsg=message) reals
        else
          call c_f_pointer(field%address(), bytes, [field%local_bytes()])
          write (unit, iostat=status, iomsg=message) bytes
        end if
        if (status /= 0) call fail('stream: '//message)
      end associate
    end do
    close (unit, iostat=status, iomsg=message)
    if (status /= 0) call fail('stream: '//message)
  end subroutine

  subroutine stream_restore(self)
    class(stream_writer), intent(inout) :: self
    character(len=200) :: message
    character(len=32) :: name
    real(real64), pointer, contiguous :: reals(:)
    integer(int8), pointer, contiguous :: bytes(:)
    integer(int32) :: length
    integer :: unit, status, i
    open (newunit=unit, file=self%path, form='unformatted', status='old', action='read', iostat=status, iomsg=message)
    if (status /= 0) call fail('stream: '//message)
    do i = 1, size(self%data%items)
      associate (field => self%data%items(i))
        read (unit, iostat=status, iomsg=message) length
        name = ''
        if (status == 0) read (unit, iostat=status, iomsg=message) name(:length)
        if (status /= 0) call fail('stream: '//message)
        if (name /= field%name) call fail('stream: '//trim(name)//' was found where '//trim(field%name)//' should be.')
        if (field%element_bytes == of_real) then
          call c_f_pointer(field%address(), reals, [field%local_bytes()/of_real])
          read (unit, iostat=status, iomsg=message) reals
        else
          call c_f_pointer(field%address(), bytes, [field%local_bytes()])
          read (unit, iostat=status, iomsg=message) bytes
        end if
        if (status /= 0) call fail('stream: '//message)
      end associate
    end do
    close (unit)
  end subroutine

end module palm_stream

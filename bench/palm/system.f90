!> What Fortran has no words for: syncing, directories, the page cache, sleeping; and how the benchmark ends on an error.
module palm_system
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int8, int64
  implicit none
  private
  public :: fail, sync_path, forget_cached, make_directory, remove_tree, sleep_us, raw_open, raw_write, raw_read, &
            raw_close, raw_memory, raw_block

  !> One raw write or read; O_DIRECT wants memory, offset and length in whole pages.
  integer(int64), parameter :: raw_block = 16*1048576_int64
  integer(int64), parameter :: page = 4096

  ! Ways to open, of system.c.
  integer(c_int), parameter :: to_read = 0, to_write = 1, to_read_direct = 2, to_write_direct = 3

  interface
    function c_open(path, way) bind(C, name='palm_open') result(fd)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: way
      integer(c_int) :: fd
    end function
    function c_write(fd, buffer, bytes) bind(C, name='write') result(done)
      import :: c_int, c_ptr, c_size_t
      integer(c_int), value :: fd
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: bytes
      integer(c_size_t) :: done
    end function
    function c_read(fd, buffer, bytes) bind(C, name='read') result(done)
      import :: c_int, c_ptr, c_size_t
      integer(c_int), value :: fd
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: bytes
      integer(c_size_t) :: done
    end function
    function c_close(fd) bind(C, name='close') result(status)
      import :: c_int
      integer(c_int), value :: fd
      integer(c_int) :: status
    end function
    function c_fsync(fd) bind(C, name='fsync') result(status)
      import :: c_int
      integer(c_int), value :: fd
      integer(c_int) :: status
    end function
    function c_forget(path) bind(C, name='palm_forget') result(status)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: status
    end function
    function c_usleep(us) bind(C, name='usleep') result(status)
      import :: c_int
      integer(c_int), value :: us
      integer(c_int) :: status
    end function
    function c_aligned_alloc(alignment, bytes) bind(C, name='aligned_alloc') result(memory)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: alignment, bytes
      type(c_ptr) :: memory
    end function
  end interface

contains

  !> Ends the whole benchmark. What it made stays under the directories it was given.
  subroutine fail(text)
    use mpi_f08, only: MPI_Abort, MPI_COMM_WORLD
    character(len=*), intent(in) :: text
    write (error_unit, '(a)') 'forebay: palm_bench: '//trim(text)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  integer(c_int) function opened(path, way) result(fd)
    character(len=*), intent(in) :: path
    integer(c_int), intent(in) :: way
    fd = c_open(trim(path)//c_null_char, way)
    if (fd < 0) call fail('cannot open '//trim(path)//'. Next: give --tmpfs and --disk directories that you may write to.')
  end function

  !> A file's bytes, or a directory's names, are on the medium when this returns.
  subroutine sync_path(path)
    character(len=*), intent(in) :: path
    integer(c_int) :: fd
    fd = opened(path, to_read)
    if (c_fsync(fd) /= 0) call fail('cannot sync '//trim(path)//'.')
    call raw_close(fd)
  end subroutine

  !> The kernel forgets what it holds of a file, or of all files in a directory, that are synced. The files of others keep
  !> their cache, which writing to /proc/sys/vm/drop_caches would take from every user of the machine.
  subroutine forget_cached(path)
    character(len=*), intent(in) :: path
    if (c_forget(trim(path)//c_null_char) /= 0) call fail('cannot drop the cache of '//trim(path)//'.')
  end subroutine

  subroutine make_directory(path)
    character(len=*), intent(in) :: path
    call run('mkdir -p -- "'//trim(path)//'"')
  end subroutine

  subroutine remove_tree(path)
    character(len=*), intent(in) :: path
    call run('rm -rf -- "'//trim(path)//'"')
  end subroutine

  subroutine run(command)
    character(len=*), intent(in) :: command
    integer :: ended, status
    call execute_command_line(command, exitstat=ended, cmdstat=status)
    if (status /= 0 .or. ended /= 0) call fail('this failed: '//command)
  end subroutine

  subroutine sleep_us(us)
    integer, intent(in) :: us
    if (c_usleep(int(us, c_int)) /= 0) return  ! a signal; whoever sleeps looks again
  end subroutine

  !> `write`: a new file. `direct`: past the page cache; where the file system refuses that, as tmpfs does, through it.
  integer(c_int) function raw_open(path, write, direct) result(fd)
    character(len=*), intent(in) :: path
    logical, intent(in) :: write, direct
    fd = -1
    if (direct) fd = c_open(trim(path)//c_null_char, merge(to_write_direct, to_read_direct, write))
    if (fd < 0) fd = opened(path, merge(to_write, to_read, write))
  end function

  subroutine raw_write(fd, memory, bytes)
    integer(c_int), intent(in) :: fd
    type(c_ptr), intent(in) :: memory
    integer(int64), intent(in) :: bytes
    if (c_write(fd, memory, int(bytes, c_size_t)) /= bytes) call fail('a raw write was cut short; is there room?')
  end subroutine

  subroutine raw_read(fd, memory, bytes)
    integer(c_int), intent(in) :: fd
    type(c_ptr), intent(in) :: memory
    integer(int64), intent(in) :: bytes
    if (c_read(fd, memory, int(bytes, c_size_t)) /= bytes) call fail('a raw read was cut short.')
  end subroutine

  subroutine raw_close(fd, sync)
    integer(c_int), intent(in) :: fd
    logical, intent(in), optional :: sync
    if (present(sync)) then
      if (sync) then
        if (c_fsync(fd) /= 0) call fail('a raw file cannot be synced.')
      end if
    end if
    if (c_close(fd) /= 0) call fail('a file cannot be closed.')
  end subroutine

  !> Whole pages, never freed: the limits use them until the end.
  function raw_memory(bytes) result(memory)
    integer(int64), intent(in) :: bytes
    integer(int8), pointer, contiguous :: memory(:)
    integer(int64) :: rounded
    type(c_ptr) :: address
    rounded = (bytes + page - 1)/page*page
    address = c_aligned_alloc(int(page, c_size_t), int(rounded, c_size_t))
    if (.not. c_associated(address)) call fail('no memory for the limits. Next: give a smaller --size.')
    call c_f_pointer(address, memory, [rounded])
    memory = 1
  end function

end module palm_system

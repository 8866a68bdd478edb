!> What this machine could do at best with the same bytes from the same ranks: one memcpy; raw writes, synced; raw reads.
module palm_limits
  use, intrinsic :: iso_c_binding, only: c_int, c_loc, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int64, int8, real64
  use palm_data, only: mix
  use palm_ranks, only: rank, rank_count, start_clock, stop_clock
  use palm_system, only: forget_cached, raw_block, raw_close, raw_memory, raw_open, raw_read, raw_write, sync_path
  implicit none
  private
  public :: limits, limit_names, limit_keys

  !> The order in which measure() gives its seconds.
  character(len=*), parameter :: limit_keys(6) = [character(len=16) :: 'memcpy', 'write_direct', 'write_direct_1', &
                                                  'write_buffered', 'read_warm', 'read_cold']
  character(len=*), parameter :: limit_names(6) = [character(len=48) :: &
    'memcpy by all ranks', 'raw write + fsync, direct, by all ranks', 'raw write + fsync, direct, by one rank', &
    'raw write + fsync, buffered, by all ranks', 'raw read, buffered, by all ranks', 'raw read, direct and cold, by all ranks']

  type :: limits
    private
    integer(int8), pointer, contiguous :: memory(:) => null(), from(:) => null()
    integer(int64) :: share = 0  !< bytes of a rank
  contains
    procedure :: make => limits_make
    procedure :: measure => limits_measure
  end type

  interface
    function c_memcpy(to, from, bytes) bind(C, name='memcpy') result(there)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: bytes
      type(c_ptr) :: there
    end function
  end interface

contains

  subroutine limits_make(self, data)
    class(limits), intent(out) :: self
    type(mix), intent(in) :: data
    self%share = data%total_bytes/rank_count
    self%memory => raw_memory(self%share)
    self%from => raw_memory(self%share)
  end subroutine

  !> Writes to and removes nothing but its own files in `directory`.
  subroutine limits_measure(self, directory, seconds)
    class(limits), intent(inout) :: self
    character(len=*), intent(in) :: directory
    real(real64), intent(out) :: seconds(6)
    real(real64) :: started
    character(len=:), allocatable :: path
    character(len=6) :: number
    type(c_ptr) :: there
    write (number, '(i6.6)') rank
    path = directory//'/'//number
    started = start_clock()
    there = c_memcpy(c_loc(self%memory), c_loc(self%from), int(self%share, c_size_t))
    seconds(1) = stop_clock(started)
    started = start_clock()
    if (rank == 0) call write_file(self, path, self%share*rank_count, .true.)
    seconds(3) = stop_clock(started)
    started = start_clock()
    call write_file(self, path, self%share, .true.)
    seconds(2) = stop_clock(started)
    call forget_cached(path)
    started = start_clock()
    call read_file(self, path, .true.)
    seconds(6) = stop_clock(started)
    started = start_clock()
    call write_file(self, path, self%share, .false.)
    seconds(4) = stop_clock(started)
    started = start_clock()
    call read_file(self, path, .false.)
    seconds(5) = stop_clock(started)
  end subroutine

  ! In blocks, again from the beginning of the memory when a rank writes for all.
  subroutine write_file(self, path, bytes, direct)
    class(limits), intent(in) :: self
    character(len=*), intent(in) :: path
    integer(int64), intent(in) :: bytes
    logical, intent(in) :: direct
    integer(int64) :: at, length, done
    integer(c_int) :: fd
    fd = raw_open(path, .true., direct)
    done = 0
    do while (done < bytes)
      at = mod(done, whole(self))
      length = min(raw_block, whole(self) - at)
      call raw_write(fd, c_loc(self%memory(at + 1)), length)
      done = done + length
    end do
    call raw_close(fd, sync=.true.)
    call sync_path(path(:index(path, '/', back=.true.)))
  end subroutine

  subroutine read_file(self, path, direct)
    class(limits), intent(in) :: self
    character(len=*), intent(in) :: path
    logical, intent(in) :: direct
    integer(int64) :: at, length
    integer(c_int) :: fd
    fd = raw_open(path, .false., direct)
    do at = 0, whole(self) - 1, raw_block
      length = min(raw_block, whole(self) - at)
      call raw_read(fd, c_loc(self%memory(at + 1)), length)
    end do
    call raw_close(fd)
  end subroutine

  ! The memory is whole pages.
  integer(int64) function whole(self)
    class(limits), intent(in) :: self
    whole = size(self%memory, kind=int64)
  end function

end module palm_limits

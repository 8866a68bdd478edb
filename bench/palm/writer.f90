!> One way to write and read PALM's data: what the benchmark calls of each, in this order, every call on all ranks.
!>
!>   begin -> create -> secure -> { before_restore -> restore } ... -> end
!>
!> create, secure and restore are timed. What a running simulation has anyway (an open session) belongs to begin and
!> before_restore. create and secure happen once a turn; before_restore and restore once warm, then once cold.
module palm_writer
  use, intrinsic :: iso_fortran_env, only: real64
  use palm_data, only: mix
  use palm_system, only: forget_cached, sync_path
  implicit none
  private
  public :: writer, writer_begin, writer_slot, file_writer, other_time

  !> What else takes time in a turn, beside what is compared.
  type :: other_time
    character(len=24) :: key = ''
    character(len=64) :: what = ''
    real(real64) :: seconds = 0
  end type

  type, abstract :: writer
    character(len=16) :: name = ''
    character(len=:), allocatable :: left_out   !< why it cannot run here; not allocated when it can
    character(len=:), allocatable :: directory  !< where it writes; its own, made and removed by the benchmark
    type(mix), pointer :: data => null()
    type(other_time), allocatable :: others(:)  !< of the last turn; the same number each turn
  contains
    procedure :: begin => writer_begin
    procedure(action), deferred :: create           !< returns when the application may compute on
    procedure(action), deferred :: secure           !< returns when a power cut cannot take it back
    procedure(make_ready), deferred :: before_restore  !< cold: this node's memory holds nothing of it
    procedure(action), deferred :: restore
    procedure :: end => writer_end
    procedure :: note => writer_note
  end type

  type :: writer_slot
    class(writer), allocatable :: it
  end type

  !> Writes through the page cache into one file of all ranks, or one a rank.
  type, abstract, extends(writer) :: file_writer
    character(len=:), allocatable :: path  !< this rank's, or that of all; set by create
  contains
    procedure :: secure => file_secure
    procedure :: before_restore => file_before_restore
  end type

  abstract interface
    subroutine action(self)
      import :: writer
      class(writer), intent(inout) :: self
    end subroutine
    subroutine make_ready(self, cold)
      import :: writer
      class(writer), intent(inout) :: self
      logical, intent(in) :: cold
    end subroutine
  end interface

contains

  subroutine writer_begin(self, directory, data)
    class(writer), intent(inout) :: self
    character(len=*), intent(in) :: directory
    type(mix), intent(in), target :: data
    self%directory = directory
    self%data => data
    self%others = [other_time::]
  end subroutine

  subroutine writer_end(self)
    class(writer), intent(inout) :: self
    nullify (self%data)
  end subroutine

  subroutine writer_note(self, key, what, seconds)
    class(writer), intent(inout) :: self
    character(len=*), intent(in) :: key, what
    real(real64), intent(in) :: seconds
    type(other_time) :: new
    new%key = key
    new%what = what
    new%seconds = seconds
    self%others = [self%others, new]
  end subroutine

  ! On several nodes each has to write back its own pages; on one, what comes second finds nothing to do.
  subroutine file_secure(self)
    class(file_writer), intent(inout) :: self
    call sync_path(self%path)
    call sync_path(self%directory)
  end subroutine

  subroutine file_before_restore(self, cold)
    class(file_writer), intent(inout) :: self
    logical, intent(in) :: cold
    if (cold) call forget_cached(self%path)
  end subroutine

end module palm_writer

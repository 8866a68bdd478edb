!> Forebay by its module: described once, saved at each step. create is the second save of a session, as a simulation makes
!> all but its first; opening, preparing and the first save are measured beside it.
module palm_forebay
  use, intrinsic :: iso_c_binding, only: c_f_pointer
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use mpi_f08, only: MPI_COMM_WORLD
  use forebay
  use palm_data, only: item, mix, of_character, of_integer
  use palm_ranks, only: start_clock, stop_clock
  use palm_system, only: fail, forget_cached
  use palm_writer, only: writer, writer_begin
  implicit none
  private
  public :: forebay_writer

  type, extends(writer) :: forebay_writer
    character(len=:), allocatable :: staging
    logical :: cold = .false.
    type(fb_session), allocatable :: session
    type(fb_stream), allocatable :: stream
  contains
    procedure :: begin => forebay_begin
    procedure :: create => forebay_create
    procedure :: secure => forebay_secure
    procedure :: before_restore => forebay_before_restore
    procedure :: restore => forebay_restore
    procedure :: end => forebay_end
  end type

  real(real64), parameter :: commit_max_seconds = 600

contains

  subroutine forebay_begin(self, directory, data)
    class(forebay_writer), intent(inout) :: self
    character(len=*), intent(in) :: directory
    type(mix), intent(in), target :: data
    real(real64) :: started
    call writer_begin(self, directory, data)
    started = start_clock()
    call open_session(self)
    call self%note('open', 'open the session', stop_clock(started))
    started = start_clock()
    call self%stream%prepare()
    call self%note('prepare', 'prepare the slot, before the first save', stop_clock(started))
    started = start_clock()
    call self%stream%save(1_int64)
    call self%note('first', 'first save', stop_clock(started))
    call self%stream%wait_committed(commit_max_seconds)
  end subroutine

  subroutine open_session(self)
    class(forebay_writer), intent(inout) :: self
    integer :: i
    allocate (self%session, self%stream)
    call self%session%open(MPI_COMM_WORLD, self%directory, self%staging)
    call self%session%stream('restart', self%stream, 'slots = 1'//new_line('a')//'keep = 0'//new_line('a')//'view = false')
    do i = 1, size(self%data%items)
      associate (field => self%data%items(i))
        if (field%distributed) then
          call self%stream%array(trim(field%name), place_of(field), field%shape(:field%dims), field%start(:field%dims), &
                                 halo_lo=field%halo(:field%dims), halo_hi=field%halo(:field%dims))
        else
          call self%stream%replicated(trim(field%name), place_of(field))
        end if
      end associate
    end do
  end subroutine

  subroutine forebay_create(self)
    class(forebay_writer), intent(inout) :: self
    call self%stream%save(2_int64)
  end subroutine

  subroutine forebay_secure(self)
    class(forebay_writer), intent(inout) :: self
    call self%stream%wait_committed(commit_max_seconds)
  end subroutine

  ! Warm: as after a crash of the application, whose staged copy stays. Cold: as on another node, or after a clean end.
  subroutine forebay_before_restore(self, cold)
    class(forebay_writer), intent(inout) :: self
    logical, intent(in) :: cold
    real(real64) :: started
    self%cold = cold
    if (cold) call self%session%close()
    deallocate (self%stream, self%session)
    if (cold) call forget_cached(self%directory)
    started = start_clock()
    call open_session(self)
    if (.not. cold) call self%note('reopen', 'open a session that finds a staged copy', stop_clock(started))
  end subroutine

  subroutine forebay_restore(self)
    class(forebay_writer), intent(inout) :: self
    type(fb_restart) :: snapshot
    character(len=:), allocatable :: source
    call self%stream%newest(snapshot)
    if (.not. snapshot%found()) call fail('forebay: the snapshot that was just committed is not found.')
    source = snapshot%source()
    if (snapshot%step() /= 2 .or. (index(source, 'staged') == 1 .eqv. self%cold)) &
      call fail('forebay: the restart came from '//source//', which was not to be measured.')
    call snapshot%read()
  end subroutine

  subroutine forebay_end(self)
    class(forebay_writer), intent(inout) :: self
    call self%session%close()
    deallocate (self%stream, self%session)
    nullify (self%data)
  end subroutine

  function place_of(field) result(place)
    type(item), intent(in) :: field
    type(fb_place) :: place
    integer(int64) :: extent(4)
    integer(int32), pointer :: an_integer
    character(len=1), pointer :: a_character
    real(real64), pointer :: a_real
    real(real64), pointer, contiguous :: one_d(:), two_d(:, :), three_d(:, :, :), four_d(:, :, :, :)
    extent = field%count + 2*field%halo
    select case (field%dims)
    case (0)
      call c_f_pointer(field%address(), an_integer)
      call c_f_pointer(field%address(), a_character)
      call c_f_pointer(field%address(), a_real)
      place = fb_at(a_real)
      if (field%element_bytes == of_integer) place = fb_at(an_integer)
      if (field%element_bytes == of_character) place = fb_at(a_character)
    case (1)
      call c_f_pointer(field%address(), one_d, extent(:1))
      place = fb_at(one_d)
    case (2)
      call c_f_pointer(field%address(), two_d, extent(:2))
      place = fb_at(two_d)
    case (3)
      call c_f_pointer(field%address(), three_d, extent(:3))
      place = fb_at(three_d)
    case default
      call c_f_pointer(field%address(), four_d, extent)
      place = fb_at(four_d)
    end select
  end function

end module palm_forebay

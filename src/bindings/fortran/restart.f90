! Bodies of the calls that restart a simulation: restore, newest, older, and the calls of fb_restart.
submodule (forebay_streams) forebay_restart
  use, intrinsic :: iso_c_binding
  use forebay_c
  use forebay_texts
  implicit none

  ! The user's subroutine, for bind_rows().
  type :: t_binder
    procedure(fb_bind_rows), pointer, nopass :: bind => null()
  end type

contains

  module procedure stream_restore
    type(c_error) :: error
    integer(c_int) :: status
    type(t_binder), target :: binder
    type(c_funptr) :: call_back
    type(fb_restart) :: chosen
    call_back = c_null_funptr
    if (present(bind)) then
      binder%bind => bind
      call_back = c_funloc(bind_rows)
    end if
    status = c_restore(self%handle, call_back, c_loc(binder), chosen%handle, error)
    if (present(restart)) then
      ! The caller's handle takes over the snapshot, so that `chosen` does not free it.
      call restart_final(restart)
      restart%handle = chosen%handle
      chosen%handle = c_null_ptr
    end if
    call finish(status, error, stat, errmsg)
  end procedure

  ! Called from C. The library owns the snapshot: the handle is valid only during the call.
  function bind_rows(restart, context, error) bind(C) result(status)
    type(c_ptr), value :: restart, context
    type(c_error), intent(inout) :: error
    integer(c_int) :: status
    type(t_binder), pointer :: binder
    type(fb_restart) :: lent
    character(len=512) :: why
    integer :: stat
    call c_f_pointer(context, binder)
    lent%handle = restart
    stat = fb_ok
    why = ''
    call binder%bind(lent, stat, why)
    ! Without this the end of this function would free the library's snapshot.
    lent%handle = c_null_ptr
    status = int(stat, c_int)
    if (stat /= fb_ok) then
      error%text(1:len_trim(why) + 1) = transfer(trim(why)//c_null_char, [c_null_char])
    end if
  end function

  module procedure stream_newest
    type(c_error) :: error
    integer(c_int) :: status
    integer(int64) :: bound
    bound = huge(bound)
    if (present(below)) bound = below
    call restart_final(restart)
    status = c_newest_below(self%handle, bound, restart%handle, error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure stream_older
    type(c_error) :: error
    integer(c_int) :: status
    call restart_final(restart)
    status = c_older(self%handle, restart%handle, error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure stream_note
    type(c_ptr) :: note
    text = ''
    if (number < 1) return
    note = c_note(self%handle, int(number - 1, c_size_t))
    if (c_associated(note)) text = text_at(note)
  end procedure

  module procedure restart_found
    restart_found = c_associated(self%handle)
  end procedure

  module procedure restart_step
    restart_step = -1
    if (self%found()) restart_step = c_restart_step(self%handle)
  end procedure

  module procedure restart_time
    restart_time = 0
    if (self%found()) restart_time = c_restart_time(self%handle)
  end procedure

  module procedure restart_same_ranks
    restart_same_ranks = .false.
    if (self%found()) restart_same_ranks = c_restart_same_ranks(self%handle) /= 0
  end procedure

  module procedure restart_source
    text = ''
    if (self%found()) text = text_at(c_restart_source(self%handle))
  end procedure

  module procedure restart_rows
    restart_rows = 0
    if (self%found() .and. c_associated(particles%handle)) &
      restart_rows = c_restart_rows(self%handle, particles%handle)
  end procedure

  module procedure restart_read
    type(c_error) :: error
    integer(c_int) :: status
    status = c_read(self%handle, error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure restart_read_variable
    character(kind=c_char, len=:), allocatable, target :: text
    type(c_error) :: error
    integer(c_int) :: status
    text = c_text(name)
    status = c_read_variables(self%handle, 1_c_size_t, [c_loc(text)], error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure restart_final
    call c_restart_free(self%handle)
    self%handle = c_null_ptr
  end procedure

  module procedure restart_assign
    call refuse_assignment('fb_restart', c_associated(self%handle) .or. c_associated(other%handle))
  end procedure

end submodule forebay_restart

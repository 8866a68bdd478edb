! Bodies of the calls that save: prepare, save, wait_committed, and the counters.
submodule (forebay_streams) forebay_save
  use, intrinsic :: iso_c_binding
  use forebay_c
  use forebay_texts
  implicit none

contains

  module procedure stream_prepare
    type(c_error) :: error
    integer(c_int) :: status
    status = c_prepare(self%handle, error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure stream_save
    type(fb_saved) :: done
    type(c_error) :: error
    integer(c_int) :: status
    real(c_double) :: at
    at = 0
    if (present(time)) at = time
    status = c_save(self%handle, step, at, done, error)
    if (present(saved)) saved = done
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure stream_wait_committed
    type(c_error) :: error
    integer(c_int) :: status
    status = c_wait_committed(self%handle, seconds, error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure stream_counter
    type(c_error) :: error
    integer(c_int) :: status
    real(c_double) :: counted
    counted = 0
    status = c_counter(self%handle, c_text(name), counted, error)
    value = counted
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure stream_counters_text
    text = text_at(c_counters_text(self%handle))
  end procedure

  module procedure stream_final
    call c_stream_free(self%handle)
    self%handle = c_null_ptr
  end procedure

  module procedure stream_assign
    call refuse_assignment('fb_stream', c_associated(self%handle) .or. c_associated(other%handle))
  end procedure

end submodule forebay_save

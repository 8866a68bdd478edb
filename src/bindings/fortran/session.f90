! Bodies of fb_session: open, stream, spool, job and close.
submodule (forebay) forebay_session
  use, intrinsic :: iso_c_binding
  use, intrinsic :: ieee_arithmetic, only: ieee_positive_inf, ieee_quiet_nan, ieee_value
  use forebay_c
  use forebay_texts
  implicit none

contains

  module procedure open_alone
    type(c_ptr) :: options
    type(c_error) :: error
    integer(c_int) :: status
    options = options_for(run, staging, config, log)
    status = c_open(options, self%handle, error)
    call c_options_free(options)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure open_integer
    type(c_ptr) :: options
    type(c_error) :: error
    integer(c_int) :: status
    options = options_for(run, staging, config, log)
    status = c_open_mpi(int(comm, c_int), options, self%handle, error)
    call c_options_free(options)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure open_f08
    call open_integer(self, comm%MPI_VAL, run, staging, config, stat, errmsg, log)
  end procedure

  module procedure session_stream
    call open_stream(stream, self%handle, name, options, stat, errmsg)
  end procedure

  module procedure session_draining
    session_draining = c_draining(self%handle) /= 0
  end procedure

  module procedure session_spool
    path = text_at(c_spool(self%handle))
  end procedure

  module procedure session_job
    type(c_error) :: error
    type(c_job), target :: answer
    integer(c_int) :: status, wanted
    wanted = 0
    if (present(stop_wanted)) wanted = merge(1, 0, stop_wanted)
    job%seconds_left = ieee_value(job%seconds_left, ieee_positive_inf)
    job%reason = ''
    job%condition = ''
    job%value = ieee_value(job%value, ieee_quiet_nan)
    job%condition_step = -1
    status = c_check_job(self%handle, wanted, answer, error)
    if (status == fb_ok) then
      job%save = answer%save /= 0
      job%stop = answer%stop /= 0
      job%seconds_left = answer%seconds_left
      job%reason = text_at(c_loc(answer%reason))
      job%condition = text_at(c_loc(answer%condition))
      job%value = answer%value
      job%condition_step = answer%condition_step
    end if
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure session_close
    type(c_error) :: error
    integer(c_int) :: status
    status = c_close(self%handle, error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure session_final
    call c_session_free(self%handle)
    self%handle = c_null_ptr
  end procedure

  module procedure session_assign
    call refuse_assignment('fb_session', c_associated(self%handle) .or. c_associated(other%handle))
  end procedure

end submodule forebay_session

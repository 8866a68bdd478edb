! The C binding, forebay.h, and cfi_binding.cpp, for the other modules of this library. No program uses this module.
module forebay_c
  use, intrinsic :: iso_c_binding
  use forebay_words, only: fb_error_bytes, fb_place, fb_saved
  implicit none
  public

  type, bind(C) :: c_error
    character(kind=c_char) :: text(fb_error_bytes)
  end type
  integer, parameter :: reason_bytes = 512
  type, bind(C) :: c_job
    integer(c_int) :: save, stop
    real(c_double) :: seconds_left
    character(kind=c_char) :: reason(reason_bytes)
    character(kind=c_char) :: condition(reason_bytes)
    real(c_double) :: value
    integer(c_int64_t) :: condition_step
  end type
  type, bind(C) :: c_attributes
    type(c_ptr) :: unit = c_null_ptr, description = c_null_ptr
    integer(c_size_t) :: dimension_count = 0
    type(c_ptr) :: dimensions = c_null_ptr
    integer(c_size_t) :: other_count = 0
    type(c_ptr) :: others = c_null_ptr
  end type
  type, bind(C) :: c_column
    type(c_ptr) :: name = c_null_ptr
    integer(c_int32_t) :: type = 0
    type(c_ptr) :: attributes = c_null_ptr
  end type

  interface
    function c_version() bind(C, name='fb_version') result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_status_name(status) bind(C, name='fb_status_name') result(text)
      import :: c_ptr, c_int
      integer(c_int), value :: status
      type(c_ptr) :: text
    end function
    pure function c_strlen(text) bind(C, name='strlen') result(bytes)
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: text
      integer(c_size_t) :: bytes
    end function
    function c_options_file(path) bind(C, name='fb_options_file') result(options)
      import :: c_ptr, c_char
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr) :: options
    end function
    function c_options_parse(toml, options, error) bind(C, name='fb_options_parse') result(status)
      import :: c_ptr, c_int, c_char, c_error
      character(kind=c_char), intent(in) :: toml(*)
      type(c_ptr), intent(inout) :: options
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    subroutine c_options_set_run(options, directory) bind(C, name='fb_options_set_run')
      import :: c_ptr, c_char
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: directory(*)
    end subroutine
    subroutine c_options_set_staging(options, directory) bind(C, name='fb_options_set_staging')
      import :: c_ptr, c_char
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: directory(*)
    end subroutine
    subroutine c_options_set_log_to_stderr(options, yes) bind(C, name='fb_options_set_log_to_stderr')
      import :: c_ptr, c_int
      type(c_ptr), value :: options
      integer(c_int), value :: yes
    end subroutine
    subroutine c_options_free(options) bind(C, name='fb_options_free')
      import :: c_ptr
      type(c_ptr), value :: options
    end subroutine
    function c_open(options, session, error) bind(C, name='fb_open') result(status)
      import :: c_ptr, c_int, c_error
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: session
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_open_mpi(comm, options, session, error) bind(C, name='fb_open_mpi') result(status)
      import :: c_ptr, c_int, c_error
      integer(c_int), value :: comm
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: session
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_close(session, error) bind(C, name='fb_close') result(status)
      import :: c_ptr, c_int, c_error
      type(c_ptr), value :: session
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    subroutine c_session_free(session) bind(C, name='fb_session_free')
      import :: c_ptr
      type(c_ptr), value :: session
    end subroutine
    function c_draining(session) bind(C, name='fb_draining') result(yes)
      import :: c_ptr, c_int
      type(c_ptr), value :: session
      integer(c_int) :: yes
    end function
    function c_spool(session) bind(C, name='fb_spool') result(path)
      import :: c_ptr
      type(c_ptr), value :: session
      type(c_ptr) :: path
    end function
    function c_dedicate(world, options, comm, error) bind(C, name='fb_dedicate') result(status)
      import :: c_ptr, c_int, c_error
      integer(c_int), value :: world
      type(c_ptr), value :: options
      integer(c_int), intent(inout) :: comm
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_check_job(session, stop_wanted, job, error) bind(C, name='fb_check_job') result(status)
      import :: c_ptr, c_int, c_job, c_error
      type(c_ptr), value :: session
      integer(c_int), value :: stop_wanted
      type(c_job), intent(inout) :: job
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_stream_open(session, name, options, stream, error) bind(C, name='fb_stream_open') result(status)
      import :: c_ptr, c_int, c_char, c_error
      type(c_ptr), value :: session, options
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: stream
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    subroutine c_stream_free(stream) bind(C, name='fb_stream_free')
      import :: c_ptr
      type(c_ptr), value :: stream
    end subroutine
    function c_refusal(what, next, error) bind(C, name='fb_fortran_refusal') result(status)
      import :: c_int, c_char, c_error
      character(kind=c_char), intent(in) :: what(*), next(*)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_replicated(stream, name, value, unit, description, first_rank, error) &
      bind(C, name='fb_fortran_replicated') result(status)
      import :: fb_place, c_ptr, c_int, c_char, c_error
      type(c_ptr), value :: stream
      character(kind=c_char), intent(in) :: name(*), unit(*), description(*)
      type(fb_place), intent(in) :: value
      integer(c_int), value :: first_rank
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_array(stream, name, data, dims, shape, start, halo_lo, halo_hi, unit, description, dimensions, &
                     partial, error) &
      bind(C, name='fb_fortran_array') result(status)
      import :: fb_place, c_ptr, c_int, c_int64_t, c_char, c_error
      type(c_ptr), value :: stream
      character(kind=c_char), intent(in) :: name(*), unit(*), description(*), dimensions(*)
      type(fb_place), intent(in) :: data
      integer(c_int), value :: dims, partial
      integer(c_int64_t), intent(in) :: shape(*), start(*), halo_lo(*), halo_hi(*)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_rebind_array(stream, name, data, dims, start, halo_lo, halo_hi, shape_dims, shape, error) &
      bind(C, name='fb_fortran_rebind_array') result(status)
      import :: fb_place, c_ptr, c_int, c_int64_t, c_char, c_error
      type(c_ptr), value :: stream
      character(kind=c_char), intent(in) :: name(*)
      type(fb_place), intent(in) :: data
      integer(c_int), value :: dims, shape_dims
      integer(c_int64_t), intent(in) :: start(*), halo_lo(*), halo_hi(*), shape(*)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_rebind_replicated(stream, name, value, error) bind(C, name='fb_fortran_rebind_replicated') &
      result(status)
      import :: fb_place, c_ptr, c_int, c_char, c_error
      type(c_ptr), value :: stream
      character(kind=c_char), intent(in) :: name(*)
      type(fb_place), intent(in) :: value
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_forget(stream, name, error) bind(C, name='fb_forget') result(status)
      import :: c_ptr, c_int, c_char, c_error
      type(c_ptr), value :: stream
      character(kind=c_char), intent(in) :: name(*)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_particles_describe(stream, name, count, columns, particles, error) &
      bind(C, name='fb_particles_describe') result(status)
      import :: c_ptr, c_int, c_size_t, c_char, c_column, c_error
      type(c_ptr), value :: stream
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: count
      type(c_column), intent(in) :: columns(*)
      type(c_ptr), intent(inout) :: particles
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_particles_bind(particles, rows, count, columns, error) &
      bind(C, name='fb_fortran_particles_bind') result(status)
      import :: c_ptr, c_int, c_int64_t, c_size_t, fb_place, c_error
      type(c_ptr), value :: particles
      integer(c_int64_t), value :: rows
      integer(c_size_t), value :: count
      type(fb_place), intent(in) :: columns(*)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    subroutine c_particles_free(particles) bind(C, name='fb_particles_free')
      import :: c_ptr
      type(c_ptr), value :: particles
    end subroutine
    function c_prepare(stream, error) bind(C, name='fb_prepare') result(status)
      import :: c_ptr, c_int, c_error
      type(c_ptr), value :: stream
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_save(stream, step, time, saved, error) bind(C, name='fb_save') result(status)
      import :: c_ptr, c_int, c_int64_t, c_double, fb_saved, c_error
      type(c_ptr), value :: stream
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      type(fb_saved), intent(inout) :: saved
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_wait_committed(stream, seconds, error) bind(C, name='fb_wait_committed') result(status)
      import :: c_ptr, c_int, c_double, c_error
      type(c_ptr), value :: stream
      real(c_double), value :: seconds
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_counter(stream, name, value, error) bind(C, name='fb_counter') result(status)
      import :: c_ptr, c_int, c_char, c_double, c_error
      type(c_ptr), value :: stream
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(inout) :: value
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_counters_text(stream) bind(C, name='fb_counters_text') result(text)
      import :: c_ptr
      type(c_ptr), value :: stream
      type(c_ptr) :: text
    end function
    function c_restore(stream, bind, context, restart, error) bind(C, name='fb_restore') result(status)
      import :: c_ptr, c_funptr, c_int, c_error
      type(c_ptr), value :: stream, context
      type(c_funptr), value :: bind
      type(c_ptr), intent(inout) :: restart
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_newest_below(stream, below, restart, error) bind(C, name='fb_newest_below') result(status)
      import :: c_ptr, c_int, c_int64_t, c_error
      type(c_ptr), value :: stream
      integer(c_int64_t), value :: below
      type(c_ptr), intent(inout) :: restart
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_older(stream, restart, error) bind(C, name='fb_older') result(status)
      import :: c_ptr, c_int, c_error
      type(c_ptr), value :: stream
      type(c_ptr), intent(inout) :: restart
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_note(stream, number) bind(C, name='fb_note') result(text)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: stream
      integer(c_size_t), value :: number
      type(c_ptr) :: text
    end function
    pure function c_restart_step(restart) bind(C, name='fb_restart_step') result(step)
      import :: c_ptr, c_int64_t
      type(c_ptr), value, intent(in) :: restart
      integer(c_int64_t) :: step
    end function
    pure function c_restart_time(restart) bind(C, name='fb_restart_time') result(time)
      import :: c_ptr, c_double
      type(c_ptr), value, intent(in) :: restart
      real(c_double) :: time
    end function
    pure function c_restart_same_ranks(restart) bind(C, name='fb_restart_same_ranks') result(yes)
      import :: c_ptr, c_int
      type(c_ptr), value, intent(in) :: restart
      integer(c_int) :: yes
    end function
    function c_restart_source(restart) bind(C, name='fb_restart_source') result(text)
      import :: c_ptr
      type(c_ptr), value :: restart
      type(c_ptr) :: text
    end function
    pure function c_restart_rows(restart, particles) bind(C, name='fb_restart_rows') result(rows)
      import :: c_ptr, c_int64_t
      type(c_ptr), value, intent(in) :: restart, particles
      integer(c_int64_t) :: rows
    end function
    function c_read(restart, error) bind(C, name='fb_read') result(status)
      import :: c_ptr, c_int, c_error
      type(c_ptr), value :: restart
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_read_variables(restart, count, names, error) bind(C, name='fb_read_variables') result(status)
      import :: c_ptr, c_int, c_size_t, c_error
      type(c_ptr), value :: restart
      integer(c_size_t), value :: count
      type(c_ptr), intent(in) :: names(*)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    subroutine c_restart_free(restart) bind(C, name='fb_restart_free')
      import :: c_ptr
      type(c_ptr), value :: restart
    end subroutine
  end interface

end module forebay_c

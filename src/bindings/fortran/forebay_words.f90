!> Constants and types of the module forebay: kinds of errors, column types, answers of calls, and places of data.
module forebay_words
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_int32_t, c_int64_t, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private

  public :: fb_saved, fb_job, fb_column, fb_place, fb_at, fb_string, fb_error_bytes

  integer, parameter :: fb_error_bytes = 2048

  !> Kinds of errors. They say how to react (docs/reference/errors.md).
  integer, parameter, public :: fb_ok = 0, fb_retry = 1, fb_full = 2, fb_missing = 3, fb_corrupt = 4, fb_refused = 5, &
                                fb_unsupported = 6, fb_broken = 7
  !> Types of table columns. The type of a character column of length n is fb_string(n).
  integer(c_int32_t), parameter, public :: fb_f32 = 2 + 4*256, fb_f64 = 3 + 8*256, fb_c64 = 4 + 8*256, &
    fb_c128 = 5 + 16*256, fb_i8 = 6 + 256, fb_i16 = 7 + 2*256, fb_i32 = 8 + 4*256, fb_i64 = 9 + 8*256

  !> The answer of one save. Equal on all ranks, except bytes and seconds.
  type, bind(C) :: fb_saved
    integer(c_int64_t) :: step = 0
    integer(c_int) :: kept = 0               !< 0: the policy skipped the step
    integer(c_int64_t) :: replaced = -1      !< newest_only: the step dropped for this save
    integer(c_int64_t) :: bytes = 0          !< of this rank
    real(c_double) :: blocked_seconds = 0, wait_seconds = 0, plan_seconds = 0, copy_seconds = 0
  end type

  !> The agreement of all ranks at the end of a step. Equal on all ranks.
  type :: fb_job
    logical :: save = .false.      !< save now
    logical :: stop = .false.      !< save now, then end; save is true too
    real(real64) :: seconds_left   !< of the job; infinite if no limit is known
    character(len=:), allocatable :: reason  !< why, if save is true
    !> A fulfilled condition of an analysis with the action save, stop or tell. Each is returned once, at the next step
    !> after the analysis found it, one a step, the most urgent first. '': none.
    character(len=:), allocatable :: condition
    real(real64) :: value                   !< the value that fulfils it
    integer(int64) :: condition_step = -1   !< the step of the snapshot that fulfils it
  end type

  !> The description of a column of a particle table.
  type :: fb_column
    character(len=:), allocatable :: name
    integer(c_int32_t) :: type = fb_f64
    character(len=:), allocatable :: unit, description
  end type

  !> The place and layout of data, from fb_at().
  type, bind(C) :: fb_place
    private
    type(c_ptr) :: address = c_null_ptr
    integer(c_int64_t) :: element_bytes = 0
    integer(c_int32_t) :: type = 0, rank = 0
    integer(c_int64_t) :: extent(15) = 0, stride_bytes(15) = 0
  end type

  interface
    !> The place of a scalar or an array of integer, real, complex, logical or character, of rank 0 to 15. It may be a
    !> section with strides, or a component of an array of derived type. Nothing is copied: the function is a C
    !> function, since compilers pass such a component in place only to C. Keep data in place: give it TARGET, or make
    !> it allocatable or a module variable.
    function fb_at(data) bind(C, name='fb_fortran_at') result(place)
      import :: fb_place
      type(*), dimension(..), intent(in), target :: data
      type(fb_place) :: place
    end function
  end interface

contains

  pure integer(c_int32_t) function fb_string(length)
    integer, intent(in) :: length
    fb_string = 14 + int(length, c_int32_t)*256
  end function

end module forebay_words

!> Words of the module forebay: kinds of errors, column types, answers of calls, and places of data.
module forebay_words
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_int32_t, c_int64_t, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private

  public :: fb_saved, fb_job, fb_column, fb_place, fb_at, fb_string, fb_error_bytes

  integer, parameter :: fb_error_bytes = 2048

  !> Kinds of errors: what should I do now?
  integer, parameter, public :: fb_ok = 0, fb_retry = 1, fb_full = 2, fb_missing = 3, fb_corrupt = 4, fb_refused = 5, &
                                fb_unsupported = 6, fb_broken = 7
  !> Types of table columns; a character column of length n is fb_string(n).
  integer(c_int32_t), parameter, public :: fb_f32 = 2 + 4*256, fb_f64 = 3 + 8*256, fb_c64 = 4 + 8*256, &
    fb_c128 = 5 + 16*256, fb_i8 = 6 + 256, fb_i16 = 7 + 2*256, fb_i32 = 8 + 4*256, fb_i64 = 9 + 8*256

  !> What one save did. Equal on all ranks but for bytes and seconds.
  type, bind(C) :: fb_saved
    integer(c_int64_t) :: step = 0
    integer(c_int) :: kept = 0               !< 0: the policy skipped the step
    integer(c_int64_t) :: replaced = -1      !< newest_only: the step that was dropped for this one
    integer(c_int64_t) :: bytes = 0          !< this rank's
    real(c_double) :: blocked_seconds = 0, wait_seconds = 0, plan_seconds = 0, copy_seconds = 0
  end type

  !> What the ranks agreed on at the end of a step. Equal on all ranks.
  type :: fb_job
    logical :: save = .false.      !< save now
    logical :: stop = .false.      !< save now, then end; save is true too
    real(real64) :: seconds_left   !< of the job; infinite where no limit is known
    character(len=:), allocatable :: reason  !< why, where save is true
    !> A condition of an analysis whose action is save, stop or tell, given at the next step after it was found
    !> fulfilled, once; of several the most urgent first, one a step. '': none.
    character(len=:), allocatable :: condition
    real(real64) :: value                   !< that fulfils it
    integer(int64) :: condition_step = -1   !< of the snapshot that does
  end type

  !> A column of a particle table that is described.
  type :: fb_column
    character(len=:), allocatable :: name
    integer(c_int32_t) :: type = fb_f64
    character(len=:), allocatable :: unit, description
  end type

  !> Where data lie and how: what fb_at() gives.
  type, bind(C) :: fb_place
    private
    type(c_ptr) :: address = c_null_ptr
    integer(c_int64_t) :: element_bytes = 0
    integer(c_int32_t) :: type = 0, rank = 0
    integer(c_int64_t) :: extent(15) = 0, stride_bytes(15) = 0
  end type

  interface
    !> Where an array or a scalar lies: of integer, real, complex, logical or character, of rank 0 to 15, a section with
    !> strides or a component of an array of derived type too. Nothing is copied: this function is of C, and only to C
    !> do compilers pass a component of an array as it lies. data must stay there: TARGET, allocatable or a module's.
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

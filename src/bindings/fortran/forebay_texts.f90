! Texts and options for C, and the end of every call: its error.
module forebay_texts
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_loc, c_null_char, c_null_ptr, c_ptr
  use forebay_words, only: fb_ok
  use forebay_c
  implicit none
  private

  public :: fb_version, fb_name_of, finish, refuse, text_at, c_text, lines, is_given, options_for, refuse_assignment

contains

  !> MAJOR.MINOR.PATCH, as in CMakeLists.txt
  function fb_version() result(text)
    character(len=:), allocatable :: text
    text = text_at(c_version())
  end function

  !> "retry", "full", ...; "ok" for fb_ok
  function fb_name_of(kind) result(text)
    integer, intent(in) :: kind
    character(len=:), allocatable :: text
    text = text_at(c_status_name(int(kind, c_int)))
  end function

  subroutine finish(status, error, stat, errmsg)
    integer(c_int), intent(in) :: status
    type(c_error), intent(in), target :: error
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable :: text
    if (status /= fb_ok .and. present(errmsg)) errmsg = text_at(c_loc(error))
    if (present(stat)) then
      stat = int(status)
    else if (status /= fb_ok) then
      text = text_at(c_loc(error))
      error stop text
    end if
  end subroutine

  !> Refuses a call before it reaches C, with the layout of every error.
  subroutine refuse(what, next, stat, errmsg)
    character(len=*), intent(in) :: what
    character(len=*), intent(in), optional :: next
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status
    status = c_refusal(c_text(what), c_text(next), error)
    call finish(status, error, stat, errmsg)
  end subroutine

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: bytes(:)
    integer :: i
    call c_f_pointer(address, bytes, [int(c_strlen(address))])
    allocate (character(len=size(bytes)) :: text)
    do i = 1, size(bytes)
      text(i:i) = bytes(i)
    end do
  end function

  pure function c_text(text) result(bytes)
    character(len=*), intent(in), optional :: text
    character(kind=c_char, len=:), allocatable :: bytes
    bytes = c_null_char
    if (present(text)) bytes = trim(text)//c_null_char
  end function

  ! One text with a line for each of `texts`; "" without.
  pure function lines(texts) result(bytes)
    character(len=*), intent(in), optional :: texts(:)
    character(kind=c_char, len=:), allocatable :: bytes
    integer :: i
    bytes = ''
    if (present(texts)) then
      do i = 1, size(texts)
        bytes = bytes//trim(texts(i))//new_line('a')
      end do
    end if
    bytes = bytes//c_null_char
  end function

  ! An error in the file is returned, on every rank, by the call that gets the options.
  type(c_ptr) function options_for(run, staging, config, log) result(options)
    character(len=*), intent(in) :: run
    character(len=*), intent(in), optional :: staging, config
    logical, intent(in), optional :: log
    integer(c_int) :: ignored
    type(c_error) :: error
    options = c_null_ptr
    if (is_given(config)) then
      options = c_options_file(c_text(config))
    else
      ignored = c_options_parse(c_text(), options, error)
    end if
    if (is_given(run)) call c_options_set_run(options, c_text(run))
    if (is_given(staging)) call c_options_set_staging(options, c_text(staging))
    if (present(log)) call c_options_set_log_to_stderr(options, merge(1_c_int, 0_c_int, log))
  end function

  ! Namelists hold blanks for entries that nobody set.
  logical function is_given(text)
    character(len=*), intent(in), optional :: text
    is_given = .false.
    if (present(text)) is_given = text /= ''
  end function

  subroutine refuse_assignment(what, holds)
    character(len=*), intent(in) :: what
    logical, intent(in) :: holds
    if (holds) error stop 'forebay: a handle of type '//what//' was assigned; pass it, or point to it.'
  end subroutine

end module forebay_texts

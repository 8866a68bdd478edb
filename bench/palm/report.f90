!> What the benchmark prints: a table of medians, quartiles and ratios to Forebay, and the goals; or one JSON object, in the
!> keys of `forebay bench --json`.
module palm_report
  use, intrinsic :: iso_fortran_env, only: int64, output_unit, real64
  use palm_statistics, only: at_fraction, median
  implicit none
  private
  public :: report

  type :: row
    character(len=48) :: key = ''
    character(len=64) :: what = ''
    real(real64), allocatable :: seconds(:)
    logical :: moves_data = .true.  !< else it has no rate
  end type

  type :: ratio
    character(len=48) :: key = ''
    character(len=96) :: what = ''
    real(real64) :: value = 0, lower = 0, upper = 0, goal = 0
  end type

  type :: report
    character(len=400) :: head = ''
    integer :: ranks = 1, repeats = 1
    integer(int64) :: bytes = 0
    integer :: row_count = 0
    type(row) :: rows(200)                          !< two places have 43 each with all six ways
    type(ratio), allocatable :: ratios(:)
    character(len=200), allocatable :: left_out(:)  !< "name: reason"
  contains
    procedure :: begin => report_begin
    procedure :: seconds => report_seconds
    procedure :: title => report_title
    procedure :: goal => report_goal
    procedure :: print => report_print
    procedure :: print_json => report_print_json
  end type

contains

  subroutine report_begin(self)
    class(report), intent(inout) :: self
    allocate (self%ratios(0), self%left_out(0))
  end subroutine

  subroutine report_title(self, what)
    class(report), intent(inout) :: self
    character(len=*), intent(in) :: what
    self%row_count = self%row_count + 1
    self%rows(self%row_count)%what = what
  end subroutine

  subroutine report_seconds(self, key, what, seconds, moves_data)
    class(report), intent(inout) :: self
    character(len=*), intent(in) :: key, what
    real(real64), intent(in) :: seconds(:)
    logical, intent(in) :: moves_data
    self%row_count = self%row_count + 1
    associate (new => self%rows(self%row_count))
      new%key = key
      new%what = what
      new%seconds = seconds
      new%moves_data = moves_data
    end associate
  end subroutine

  !> Seconds of the other way over seconds of Forebay: at least `goal` is wanted. Both have a sample for each turn.
  subroutine report_goal(self, key, what, others, forebay, goal)
    class(report), intent(inout) :: self
    character(len=*), intent(in) :: key, what
    real(real64), intent(in) :: others(:), forebay(:), goal
    type(ratio) :: new
    new%key = key
    new%what = what
    new%value = median(others)/median(forebay)
    new%lower = at_fraction(others/forebay, 0.25_real64)
    new%upper = at_fraction(others/forebay, 0.75_real64)
    new%goal = goal
    self%ratios = [self%ratios, new]
  end subroutine

  subroutine report_print(self)
    class(report), intent(in) :: self
    real(real64) :: base
    integer :: i
    write (output_unit, '(a)') trim(self%head)
    base = 0
    do i = 1, self%row_count
      associate (line => self%rows(i))
        if (.not. allocated(line%seconds)) then
          write (output_unit, '(/,a,/,t49,a,t62,a,t79,a,t87,a)') trim(line%what), 'median', 'quartiles', 'GiB/s', '/ forebay'
          base = 0
          cycle
        end if
        if (index(line%key, '_forebay_') > 0 .and. line%moves_data) base = median(line%seconds)
        write (output_unit, '(2x,a,t46,a)') trim(line%what), cells(self, line, base)
      end associate
    end do
    write (output_unit, '(a)') ''
    do i = 1, size(self%ratios)
      associate (line => self%ratios(i))
        write (output_unit, '(a,f8.2,a,f5.2,a,f8.2,a,f8.2,3a)') merge('met   ', 'MISSED', line%value >= line%goal), &
          line%value, '  (goal', line%goal, ', quartiles of the turns', line%lower, ' to', line%upper, '): ', trim(line%what)
      end associate
    end do
    do i = 1, size(self%left_out)
      write (output_unit, '(2a)') 'left out: ', trim(self%left_out(i))
    end do
  end subroutine

  function cells(self, line, base) result(text)
    type(report), intent(in) :: self
    type(row), intent(in) :: line
    real(real64), intent(in) :: base
    character(len=56) :: text
    real(real64) :: middle
    middle = median(line%seconds)
    text = ''
    write (text(:32), '(f8.4," s",f9.4," -",f8.4," s")') middle, at_fraction(line%seconds, 0.25_real64), &
      at_fraction(line%seconds, 0.75_real64)
    if (line%moves_data) write (text(33:42), '(f9.2)') real(self%bytes, real64)/middle/1024._real64**3
    if (line%moves_data .and. base > 0) write (text(45:55), '(f10.2)') middle/base
  end function

  ! ---- JSON ----

  subroutine report_print_json(self)
    class(report), intent(in) :: self
    character(len=:), allocatable :: text
    integer :: i
    text = '{"bench": "palm", "settings": "'//trim(self%head)//'", "ranks": '//whole(int(self%ranks, int64))//', "bytes": '// &
           whole(self%bytes)//', "repeats": '//whole(int(self%repeats, int64))
    if (size(self%ratios) > 0) text = text//', "ratio": '//real_text(self%ratios(1)%value)//', "ratio_lower_quartile": '// &
      real_text(self%ratios(1)%lower)//', "ratio_upper_quartile": '//real_text(self%ratios(1)%upper)//', "goal": '// &
      real_text(self%ratios(1)%goal)
    text = text//', "ratios": {'
    do i = 1, size(self%ratios)
      if (i > 1) text = text//', '
      text = text//'"'//trim(self%ratios(i)%key)//'": {"what": "'//trim(self%ratios(i)%what)//'", "value": '// &
             real_text(self%ratios(i)%value)//', "lower_quartile": '//real_text(self%ratios(i)%lower)// &
             ', "upper_quartile": '//real_text(self%ratios(i)%upper)//', "goal": '//real_text(self%ratios(i)%goal)//'}'
    end do
    text = text//'}, "left_out": ['
    do i = 1, size(self%left_out)
      if (i > 1) text = text//', '
      text = text//'"'//trim(self%left_out(i))//'"'
    end do
    write (output_unit, '(a)') text//'], "measured": {'//measured(self)//'}}'
  end subroutine

  function measured(self) result(text)
    type(report), intent(in) :: self
    character(len=:), allocatable :: text
    integer :: i, k
    text = ''
    do i = 1, self%row_count
      associate (line => self%rows(i))
        if (.not. allocated(line%seconds)) cycle
        if (text /= '') text = text//', '
        text = text//'"'//trim(line%key)//'": {"unit": "s", "median": '//real_text(median(line%seconds))// &
               ', "lower_quartile": '//real_text(at_fraction(line%seconds, 0.25_real64))//', "upper_quartile": '// &
               real_text(at_fraction(line%seconds, 0.75_real64))//', "samples": ['
        do k = 1, size(line%seconds)
          if (k > 1) text = text//', '
          text = text//real_text(line%seconds(k))
        end do
        text = text//']}'
      end associate
    end do
  end function

  function whole(number) result(text)
    integer(int64), intent(in) :: number
    character(len=:), allocatable :: text
    character(len=24) :: digits
    write (digits, '(i0)') number
    text = trim(digits)
  end function

  function real_text(number) result(text)
    real(real64), intent(in) :: number
    character(len=:), allocatable :: text
    character(len=24) :: digits
    write (digits, '(es14.7)') number
    text = trim(adjustl(digits))
  end function

end module palm_report

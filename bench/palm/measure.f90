!> One place: each way creates and restores there, turn by turn, and what comes out of it.
module palm_measure
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08, only: MPI_Bcast, MPI_COMM_WORLD, MPI_INTEGER
  use palm_data, only: mix
  use palm_limits, only: limit_keys, limit_names, limits
  use palm_ranks, only: rank, rest, start_clock, stop_clock
  use palm_report, only: report
  use palm_statistics, only: median
  use palm_system, only: fail, make_directory, remove_tree
  use palm_writer, only: other_time, writer, writer_slot
  implicit none
  private
  public :: place, measure_turn, report_places

  integer, parameter :: creating = 1, durable = 2, warm = 3, cold = 4
  character(len=*), parameter :: step_keys(4) = [character(len=8) :: 'create', 'durable', 'warm', 'cold']
  character(len=*), parameter :: step_names(4) = [character(len=48) :: 'create: the application is blocked', &
    'create, until durable', 'restore, as on the node that created', 'restore, from the target, nothing cached']

  !> Of one way: seconds of each turn and step, and of each turn and what it noted beside.
  type :: way
    real(real64), allocatable :: steps(:, :), others(:, :)
    type(other_time), allocatable :: noted(:)
  end type

  type :: place
    character(len=8) :: name = ''
    character(len=:), allocatable :: directory      !< ours in the user's
    type(way), allocatable :: ways(:)
    real(real64), allocatable :: limit_seconds(:, :)  !< of each turn
  contains
    procedure :: make => place_make
    procedure :: remove => place_remove
  end type

  interface
    integer(c_int) function c_getpid() bind(C, name='getpid')
      import :: c_int
    end function
  end interface

contains

  subroutine place_make(self, name, under, writers, repeats)
    class(place), intent(inout) :: self
    character(len=*), intent(in) :: name, under
    integer, intent(in) :: writers, repeats
    character(len=12) :: digits
    integer :: process, w
    process = int(c_getpid())
    call MPI_Bcast(process, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    write (digits, '(i0)') process
    self%name = name
    self%directory = trim(under)//'/forebay-palm-'//trim(digits)
    if (rank == 0) call make_directory(self%directory)
    allocate (self%ways(writers), self%limit_seconds(repeats, size(limit_keys)))
    do w = 1, writers
      allocate (self%ways(w)%steps(repeats, 4))
    end do
    call rest()
  end subroutine

  subroutine place_remove(self)
    class(place), intent(in) :: self
    call rest()
    if (rank == 0) call remove_tree(self%directory)
  end subroutine

  !> Turn 0 brings memory, caches and the disk to where later turns find them, and is not kept. Each turn begins with
  !> another way, so that none always follows the same one.
  subroutine measure_turn(here, writers, data, limit, turn)
    type(place), intent(inout) :: here
    type(writer_slot), intent(inout) :: writers(:)
    type(mix), intent(inout), target :: data
    type(limits), intent(inout) :: limit
    integer, intent(in) :: turn
    real(real64) :: seconds(4), limit_seconds(size(limit_keys))
    integer :: i, w
    do i = 1, size(writers)
      w = mod(i + turn - 1, size(writers)) + 1
      call measure_writer(here, writers(w)%it, data, seconds)
      if (turn == 0) cycle
      here%ways(w)%steps(turn, :) = seconds
      call keep_others(here%ways(w), writers(w)%it%others, turn)
    end do
    call make_own(here, '/raw')
    call limit%measure(here%directory//'/raw', limit_seconds)
    call remove_own(here, '/raw')
    if (turn > 0) here%limit_seconds(turn, :) = limit_seconds
  end subroutine

  subroutine measure_writer(here, measured, data, seconds)
    type(place), intent(in) :: here
    class(writer), intent(inout) :: measured
    type(mix), intent(inout), target :: data
    real(real64), intent(out) :: seconds(4)
    real(real64) :: started
    integer :: step
    call make_own(here, '/'//trim(measured%name))
    call measured%begin(here%directory//'/'//trim(measured%name), data)
    started = start_clock()
    call measured%create()
    seconds(creating) = stop_clock(started)
    call measured%secure()
    seconds(durable) = stop_clock(started)
    do step = warm, cold
      call measured%before_restore(step == cold)
      call data%wipe()
      started = start_clock()
      call measured%restore()
      seconds(step) = stop_clock(started)
      call compare(measured, data, here)
    end do
    call measured%end()
    call remove_own(here, '/'//trim(measured%name))
  end subroutine

  subroutine compare(measured, data, here)
    class(writer), intent(in) :: measured
    type(mix), intent(inout) :: data
    type(place), intent(in) :: here
    character(len=32) :: wrong
    if (data%check(wrong)) return
    if (wrong /= '') call fail(trim(measured%name)//': variable '//trim(wrong)//' was not restored as it was created, in '// &
                               here%directory//', which stays. Next: read its files there.')
    call rest()  ! the rank that found it ends the benchmark
  end subroutine

  subroutine make_own(here, name)
    type(place), intent(in) :: here
    character(len=*), intent(in) :: name
    if (rank == 0) call make_directory(here%directory//name)
    call rest()
  end subroutine

  subroutine remove_own(here, name)
    type(place), intent(in) :: here
    character(len=*), intent(in) :: name
    call rest()
    if (rank == 0) call remove_tree(here%directory//name)
    call rest()
  end subroutine

  subroutine keep_others(kept, others, turn)
    type(way), intent(inout) :: kept
    type(other_time), intent(in) :: others(:)
    integer, intent(in) :: turn
    if (.not. allocated(kept%others)) allocate (kept%others(size(kept%steps, 1), size(others)))
    kept%noted = others
    kept%others(turn, :) = others%seconds
  end subroutine

  ! ---- results ----

  subroutine report_places(results, places, writers)
    type(report), intent(inout) :: results
    type(place), intent(in) :: places(:)
    type(writer_slot), intent(in) :: writers(:)
    integer :: p
    do p = 1, size(places)
      call report_rows(results, places(p), writers)
    end do
    do p = 1, size(places)
      call report_goals(results, places(p), writers)
    end do
  end subroutine

  subroutine report_rows(results, here, writers)
    type(report), intent(inout) :: results
    type(place), intent(in) :: here
    type(writer_slot), intent(in) :: writers(:)
    integer :: step, w, i
    do step = 1, 4
      call results%title(trim(here%name)//', '//step_names(step))
      do w = 1, size(writers)
        call results%seconds(trim(here%name)//'_'//trim(writers(w)%it%name)//'_'//trim(step_keys(step)), &
                           trim(writers(w)%it%name), here%ways(w)%steps(:, step), .true.)
      end do
    end do
    call results%title(trim(here%name)//', limits and what else takes time')
    do i = 1, size(limit_keys)
      call results%seconds(trim(here%name)//'_'//trim(limit_keys(i)), trim(limit_names(i)), here%limit_seconds(:, i), .true.)
    end do
    do w = 1, size(writers)
      do i = 1, size(here%ways(w)%noted)
        call results%seconds(trim(here%name)//'_'//trim(writers(w)%it%name)//'_'//trim(here%ways(w)%noted(i)%key), &
                           trim(writers(w)%it%name)//': '//trim(here%ways(w)%noted(i)%what), here%ways(w)%others(:, i), &
                           .false.)
      end do
    end do
  end subroutine

  ! The goals compare the module's way; PALM's calls are a row beside it.
  subroutine report_goals(results, here, writers)
    type(report), intent(inout) :: results
    type(place), intent(in) :: here
    type(writer_slot), intent(in) :: writers(:)
    character(len=:), allocatable :: name
    integer :: own, mpi_io, step, best
    own = number_of(writers, 'forebay')
    if (own == 0) return
    mpi_io = number_of(writers, 'mpi-io')
    name = trim(here%name)
    associate (own_steps => here%ways(own)%steps)
      if (mpi_io > 0) call results%goal(name//'_visible', name//': mpi-io create / forebay create', &
                                      here%ways(mpi_io)%steps(:, creating), own_steps(:, creating), 4._real64)
      do step = durable, cold
        best = fastest(here, writers, step)
        if (best > 0) call results%goal(name//'_'//trim(step_keys(step)), name//': '//trim(writers(best)%it%name)// &
                                      ', the fastest other, / forebay, '//step_names(step), &
                                      here%ways(best)%steps(:, step), own_steps(:, step), 1._real64)
      end do
      call results%goal(name//'_warm_create', name//': create / restore on the node that created', own_steps(:, creating), &
                      own_steps(:, warm), 1._real64)
      call results%goal(name//'_cold_create', name//': create until durable / restore from the target', own_steps(:, durable), &
                      own_steps(:, cold), 1._real64)
    end associate
  end subroutine

  integer function number_of(writers, name)
    type(writer_slot), intent(in) :: writers(:)
    character(len=*), intent(in) :: name
    do number_of = size(writers), 1, -1
      if (writers(number_of)%it%name == name) return
    end do
  end function

  ! Of those that are not Forebay, by the median; 0 when there is none.
  integer function fastest(here, writers, step) result(best)
    type(place), intent(in) :: here
    type(writer_slot), intent(in) :: writers(:)
    integer, intent(in) :: step
    integer :: w
    best = 0
    do w = 1, size(writers)
      if (writers(w)%it%name == 'forebay' .or. writers(w)%it%name == 'palm-calls') cycle
      if (best > 0) then
        if (median(here%ways(w)%steps(:, step)) >= median(here%ways(best)%steps(:, step))) cycle
      end if
      best = w
    end do
  end function

end module palm_measure

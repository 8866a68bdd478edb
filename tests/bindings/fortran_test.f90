! Goal: every type, rank and stride of Fortran is saved in place and restored; unsupported arrays are refused.
! ranks: 1
program fortran_test
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64, error_unit
  use mpi_f08
  use forebay
  implicit none
  character, parameter :: nl = new_line('a')

  type :: body
    integer(int64) :: id
    real(real64) :: x(3)
    real(real32) :: mass
  end type

  integer(int8), target :: a1(2)
  integer(int16), target :: a2(2, 3)
  integer(int32), target :: a3(2, 3, 2)
  integer(int64), target :: a4(2, 1, 2, 2)
  real(real32), target :: a5(2, 1, 2, 1, 2)
  real(real64), target :: a6(2, 1, 2, 1, 1, 2), whole(10, 8)
  complex(real32), target :: a7(2, 1, 1, 2, 1, 1, 2)
  complex(real64), target :: scalar
  logical, target :: flag
  character(len=12), target :: words(3)
  type(body), target :: bodies(5)
  type(body), target :: odd
  integer :: failed = 0, stat
  character(len=fb_error_bytes) :: errmsg
  character(len=1024) :: run

  call MPI_Init()
  call get_command_argument(1, run)
  call fill(1)
  call use_run(.true.)
  call fill(0)
  call use_run(.false.)
  call check_values()
  call mistakes()
  call MPI_Finalize()
  if (failed > 0) error stop 'some checks failed'
  print '(a)', 'all checks passed'

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    write (error_unit, '(2a)') 'failed: ', what
    failed = failed + 1
  end subroutine

  subroutine fill(factor)
    integer, intent(in) :: factor
    integer :: i
    a1 = int(factor*[1, -2], int8)
    a2 = int(factor*reshape([(300*i, i=1, 6)], [2, 3]), int16)
    a3 = factor*reshape([(70000*i, i=1, 12)], [2, 3, 2])
    a4 = factor*reshape([(5000000000_int64*i, i=1, 8)], [2, 1, 2, 2])
    a5 = factor*reshape([(0.5*i, i=1, 8)], [2, 1, 2, 1, 2])
    a6 = factor*reshape([(0.25_real64*i, i=1, 8)], [2, 1, 2, 1, 1, 2])
    a7 = factor*reshape([(cmplx(i, -i), i=1, 8)], [2, 1, 1, 2, 1, 1, 2])
    scalar = factor*cmplx(2, 3, real64)
    flag = factor == 1
    words = merge(['alpha       ', 'beta        ', '            '], ['x           ', 'y           ', 'z           '], &
                  factor == 1)
    whole = factor*reshape([(real(i, real64), i=1, 80)], [10, 8])
    do i = 1, 5
      bodies(i) = body(factor*i, factor*[1, 2, 3]*real(i, real64), real(factor*i)/2)
    end do
  end subroutine

  subroutine check_counter(stream, name, expected)
    type(fb_stream), intent(in) :: stream
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: expected
    real(real64) :: counted
    call stream%counter(name, counted)
    call check(counted == expected, 'counter '//name)
  end subroutine

  ! Saves, or restarts. `whole` uses every third row of every second column, backwards.
  subroutine use_run(saves)
    logical, intent(in) :: saves
    type(fb_session) :: session
    type(fb_stream) :: stream
    type(fb_particles) :: table
    type(fb_restart) :: snapshot
    type(fb_saved) :: saved
    type(fb_job) :: job
    integer :: stat
    character(len=2000) :: why
    call session%open(MPI_COMM_WORLD%MPI_VAL, run, staging='', config='config.toml')
    call session%stream('all', stream, 'keep = 1'//nl//'view = false'//nl//'priority = 2'//nl// &
                        'deadline_seconds = 1e-3'//nl//'rate_bytes_per_second = 100000'//nl//'file = "own"')
    if (index(session%spool(), '/') /= 1) error stop 'no spool'
    call stream%replicated('scalar', fb_at(scalar), description='a number')
    call stream%replicated('flag', fb_at(flag))
    call stream%replicated('words', fb_at(words))
    call stream%array('a1', fb_at(a1), shape(a1), [1])
    call stream%array('a2', fb_at(a2), shape(a2), [1, 1])
    call stream%array('a3', fb_at(a3), shape(a3), [1, 1, 1], unit='K')
    call stream%array('a4', fb_at(a4), int(shape(a4), int64), int([1, 1, 1, 1], int64))
    call stream%array('a5', fb_at(a5), shape(a5), [1, 1, 1, 1, 1])
    call stream%array('a6', fb_at(a6), shape(a6), [1, 1, 1, 1, 1, 1])
    call stream%array('a7', fb_at(a7), shape(a7), [1, 1, 1, 1, 1, 1, 1])
    call stream%array('section', fb_at(whole(10:1:-3, 2:8:2)), [4, 4], [1, 1])
    call stream%particles('bodies', [fb_column('id', fb_i64), fb_column('y', fb_f64, 'm'), fb_column('mass', fb_f32)], &
                          table)
    call table%bind(5_int64, [fb_at(bodies%id), fb_at(bodies%x(2)), fb_at(bodies%mass)])
    if (saves) then
      call stream%prepare()
      call stream%save(4_int64, saved=saved)
      call check(saved%kept == 1 .and. saved%step == 4 .and. saved%bytes > 0, 'what a save tells')
      call stream%wait_committed(60._real64)
      call check_counter(stream, 'saves', 1.0_real64)
      call check_counter(stream, 'newest_durable_step', 4.0_real64)
      call check_counter(stream, 'deadlines_missed', 1.0_real64)
      call check_counter(stream, 'overtakes', 0.0_real64)
      call check_counter(stream, 'limits_overruled', 0.0_real64)
      call check_counter(stream, 'drain_rate_bytes_per_second', 0.0_real64)
      call check_counter(stream, 'slowdown_percent', 0.0_real64)
      call check(index(stream%counters_text(), 'saves 1'//nl//'skipped 0'//nl) == 1, 'all counters as text')
      call session%job(job)
      call check(.not. (job%save .or. job%stop) .and. job%reason == '', 'nobody asks')
      call check(job%seconds_left > 3500 .and. job%seconds_left <= 3600, 'what is left of the job')
      call session%job(job, stop_wanted=.true.)
      call check(job%save .and. job%stop .and. job%reason == 'the application, on rank 0', 'the application asks')
    else
      call stream%newest(snapshot)
      call check(snapshot%found() .and. snapshot%step() == 4 .and. snapshot%same_ranks(), 'what a restart tells')
      call check(snapshot%rows(table) == 5, 'rows')
      call snapshot%read()
      call stream%older(snapshot)
      call check(.not. snapshot%found() .and. snapshot%step() == -1, 'no older snapshot')
      ! An unusable snapshot must not start a new run.
      call execute_command_line(': > '//trim(run)//'/all/step-000004/manifest.json')
      call stream%restore(snapshot, stat=stat, errmsg=why)
      call check(stat == fb_corrupt .and. .not. snapshot%found() .and. index(why, 'step 4: ') > 0, 'nothing usable')
    end if
    call session%close()
  end subroutine

  subroutine check_values()
    integer :: i, j
    call check(all(a1 == [1, -2]) .and. all(reshape(a2, [6]) == [(300*i, i=1, 6)]), 'small integers')
    call check(all(reshape(a3, [12]) == [(70000*i, i=1, 12)]), 'default integers')
    call check(all(reshape(a4, [8]) == [(5000000000_int64*i, i=1, 8)]), 'long integers')
    call check(all(reshape(a5, [8]) == [(0.5*i, i=1, 8)]), 'reals')
    call check(all(reshape(a6, [8]) == [(0.25_real64*i, i=1, 8)]), 'doubles')
    call check(all(reshape(a7, [8]) == [(cmplx(i, -i), i=1, 8)]), 'complex')
    call check(scalar == cmplx(2, 3, real64) .and. flag, 'scalars')
    call check(words(1) == 'alpha' .and. words(2) == 'beta' .and. words(3) == '', 'texts')
    do j = 1, 8
      do i = 1, 10
        call check(whole(i, j) == merge(real(i + 10*(j - 1), real64), 0._real64, mod(10 - i, 3) == 0 .and. &
                                        mod(j, 2) == 0), 'a section, and what lies between')
      end do
    end do
    do i = 1, 5
      call check(bodies(i)%id == i .and. bodies(i)%mass == 0.5*i, 'components of a derived type')
      call check(all(bodies(i)%x == [0, 2*i, 0]), 'one of three coordinates')
    end do
  end subroutine

  subroutine refused(what, part)
    character(len=*), intent(in) :: what, part
    call check(stat == fb_refused, what//' is refused')
    call check(index(errmsg, part) > 0, what//' is refused with its reason: '//trim(errmsg))
    stat = fb_ok
    errmsg = ''
  end subroutine

  subroutine mistakes()
    type(fb_session) :: session, never
    type(fb_stream) :: stream
    real(real64) :: value
    character(len=10) :: short
    call never%close(stat, errmsg)
    call refused('a session that was never opened', 'NULL')
    call session%open('', staging='', config='', stat=stat, errmsg=errmsg)
    call refused('a run without a name', 'has no name')
    call session%open(trim(run)//'-other', config='config.toml', stat=stat, errmsg=errmsg)
    call check(stat == fb_ok, 'a session of one process')
    call session%stream('all', stream, 'slots = 3', stat, errmsg)
    call refused('three slots', "'slots' is 3")
    call session%stream('all', stream, 'keep = 1'//nl//'nodes_per_file = 16', stat, errmsg)
    call refused('an option of before', 'line 2: ''nodes_per_file'': nodes_per_file = 16 is now file = "combined:16"')
    call session%stream('all', stream)
    call stream%counter('safes', value, stat, errmsg)
    call refused('a counter that there is not', "there is no counter 'safes'")
    call stream%array('a2', fb_at(a2), [2, 3, 1], [1, 1, 1], stat=stat, errmsg=errmsg)
    call refused('another rank', 'has 2 dimensions here, but a global shape of 3')
    call stream%array('a2', fb_at(a2), [2, 3], [0, 1], stat=stat, errmsg=errmsg)
    call refused('a position below 1', 'start is 0 along dimension 1')
    call stream%array('a2', fb_at(a2), [2, 3], [1, 1], halo_lo=[-1, 0], stat=stat, errmsg=errmsg)
    call refused('a negative halo', 'halo_lo is -1')
    call stream%array('a2', fb_at(a2), [2, 3], [1, 1], halo_lo=[1], stat=stat, errmsg=errmsg)
    call refused('a halo of one dimension', "'a2': shape, start and halos have different lengths")
    call stream%replicated('odd', fb_at(odd), stat=stat, errmsg=errmsg)
    call refused('a derived type', 'derived type')
    call stream%replicated('part', fb_at(whole(::2, 1)), stat=stat, errmsg=errmsg)
    call refused('a replicated section', 'contiguous')
    call stream%array('a1', fb_at(a1), shape(a1), [1])
    call stream%array('a1', fb_at(a1), shape(a1), [1], stat=stat, errmsg=short)
    call check(stat == fb_refused .and. short == 'forebay: v', 'a short errmsg holds the beginning')
    call stream%rebind('nothing', fb_at(a1), [1], stat=stat, errmsg=errmsg)
    call check(stat /= fb_ok, 'rebind of what is not described')
    call check(fb_name_of(fb_corrupt) == 'corrupt', 'names of kinds')
    call check(len(fb_version()) >= 5, 'the version')
    call session%close()
  end subroutine

end program

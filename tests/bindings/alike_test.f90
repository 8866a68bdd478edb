! Goal: a known name with another type, rank, shape or kind is refused. A value, step or option that differs between
! ranks is refused. Nothing behind an array is read or overwritten, and valid calls continue to work. Method: arrays
! with guards behind them. alike_test RUN on any number of ranks; the last rank makes the mistakes.
program alike_test
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64, error_unit
  use mpi_f08
  use forebay
  use forebay_checkpoint
  implicit none

  type :: guarded
    real(real64) :: few(10)
    real(real64) :: guard(40)
  end type
  type :: guarded_single
    real(real32) :: few(40)
    real(real32) :: guard(60)
  end type

  integer, parameter :: rows = 6
  type(guarded), target :: short
  type(guarded_single), target :: single
  real(real64), target :: whole(42), field(8, rows), other(42)
  real(real32), target :: singles(8, rows)
  integer :: failures = 0, rank, ranks, first, count, stat
  logical :: odd
  character(len=fb_error_bytes) :: errmsg
  character(len=1024) :: run

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  odd = rank == ranks - 1 .and. ranks > 1
  call get_command_argument(1, run)
  errmsg = ''
  first = rows*rank/ranks + 1
  count = rows*(rank + 1)/ranks - first + 1
  whole = 42
  field = rank
  singles = 4
  short%few = 10
  short%guard = -1
  single%few = 4
  single%guard = -1
  call write_steps()
  call read_back()
  call bind_again()
  call ranks_that_differ()
  call check(all(short%guard < 0 .and. short%guard > -2) .and. all(single%guard < 0 .and. single%guard > -2), 'the guards')
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (failures > 0) error stop 'some checks failed'
  if (rank == 0) print '(a)', 'all checks passed'

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    write (error_unit, '(a,i0,2a)') 'rank ', rank, ' failed: ', what
    failures = failures + 1
  end subroutine

  subroutine refused(what, part)
    character(len=*), intent(in) :: what, part
    call check(stat == fb_refused, what//' is refused')
    call check(index(errmsg, part) > 0, what//' is refused with its reason: '//trim(errmsg))
    stat = fb_ok
    errmsg = ''
  end subroutine

  ! In a later step each name first comes with a wrong description.
  subroutine write_steps()
    integer :: rows_of, columns_of, other_rows, two_rows
    call checkpoint_open(trim(run)//'-palm', MPI_COMM_WORLD%MPI_VAL, config='config.toml')
    rows_of = checkpoint_kind([8, rows], [1, first])
    other_rows = checkpoint_kind([8, rows + 1], [1, first])
    columns_of = checkpoint_kind([10], [1])
    two_rows = checkpoint_kind([8, rows], [1, first], [0, 1], [0, 1])
    call checkpoint_begin(1)
    call checkpoint_write('whole', whole, dt_replicated)
    call checkpoint_write('field', field(:, :count), rows_of)
    call checkpoint_end()
    call checkpoint_begin(2)
    call checkpoint_write('whole', short%few, dt_replicated, stat, errmsg)
    call refused('fewer elements', "variable 'whole' is described as f64 replicated of 42, but bound as f64 replicated of 10")
    call checkpoint_write('whole', single%few, dt_replicated, stat, errmsg)
    call refused('another type', 'but bound as f32 replicated of 40')
    call checkpoint_write('whole', field(:5, 1), columns_of, stat, errmsg)
    call refused('an array for a value', 'is described as f64 replicated of 42, but bound as f64 array')
    call checkpoint_write('field', field, dt_replicated, stat, errmsg)
    call refused('a value for an array', 'is described as f64 array of 6 x 8, but bound as f64 replicated of 6 x 8')
    call checkpoint_write('field', single%few(:8), rows_of, stat, errmsg)
    call refused('another rank', "'field' has 1 dimensions here, but a start of 2")
    call checkpoint_write('field', singles(:, :count), rows_of, stat, errmsg)
    call refused('a box of another type', 'is described as f64 array of 6 x 8, but bound as f32 array of 6 x 8')
    call checkpoint_write('field', field(:, :count), other_rows, stat, errmsg)
    call refused('a kind of another shape', 'is described as f64 array of 6 x 8, but bound as f64 array of 7 x 8')
    call checkpoint_end(stat=stat, errmsg=errmsg)
    call refused('a step without what was refused', 'was defined or written before, but not in this step')
    call checkpoint_begin(2)
    call checkpoint_write('whole', whole, dt_replicated)
    call checkpoint_write('field', field(:, :count), rows_of)
    call checkpoint_end()
    call checkpoint_define('new', short%few, 77, stat, errmsg)
    call refused('a kind that nobody made', 'kind is unknown')
    call checkpoint_begin(3)
    call checkpoint_write('whole', whole, dt_replicated)
    call checkpoint_write('field', field(:, :count), rows_of)
    call checkpoint_end()  ! the step does not need refused arrays
    call checkpoint_close()
  end subroutine

  subroutine read_back()
    integer :: halves
    call checkpoint_open(trim(run)//'-palm', MPI_COMM_WORLD%MPI_VAL, config='config.toml')
    halves = checkpoint_kind([8, rows - 1], [1, 1])
    call check(checkpoint_restart(), 'a snapshot')
    call check(checkpoint_note(1) == '', 'nothing was passed over')
    call check(checkpoint_note(0) == '', 'notes count from 1')
    call checkpoint_read('whole', short%few, dt_replicated, stat, errmsg)
    call refused('a read of fewer elements', 'f64 replicated of 10 here but f64 replicated of 42 in the snapshot')
    other = 0
    call checkpoint_read('whole', other, dt_replicated, stat, errmsg)
    call check(stat == fb_ok .and. all(other > 41 .and. other < 43), 'the right read after it: '//trim(errmsg))
    call checkpoint_read('whole', short%few, dt_replicated, stat, errmsg)
    call refused('fewer elements after the right read', 'f64 replicated of 10 here')
    call checkpoint_read('whole', single%few, dt_replicated, stat, errmsg)
    call refused('another type after the right read', 'f32 replicated of 40 here')
    call checkpoint_read('field', field(:, :1), halves, stat, errmsg)
    call refused('a kind of another shape', 'f64 array of 5 x 8 here but f64 array of 6 x 8 in the snapshot')
    call checkpoint_read('field', field, checkpoint_kind([8, rows], [1, 1]))
    call check(field(1, rows) > ranks - 2 .and. field(1, rows) < ranks, 'the last row is of the last rank')
    call checkpoint_close()
  end subroutine

  ! The same with the module forebay: an array is described once and bound again.
  subroutine bind_again()
    type(fb_session) :: session
    type(fb_stream) :: stream
    type(fb_particles) :: table
    integer(int64), target :: ids(4)
    integer(int32), target :: brief(4)
    real(real64), target :: x(4)
    call session%open(MPI_COMM_WORLD, trim(run)//'-bind', config='config.toml')
    call session%stream('restart', stream, 'slots = 2')
    call stream%replicated('whole', fb_at(whole))
    call stream%array('field', fb_at(field(:, :count)), [8, rows], [1, first])
    call stream%particles('gas', [fb_column('id', fb_i64), fb_column('x', fb_f64)], table)
    call stream%rebind('whole', fb_at(short%few), stat, errmsg)
    call refused('fewer elements', 'but bound as f64 replicated of 10')
    call stream%rebind('whole', fb_at(single%few), stat, errmsg)
    call refused('another type', 'but bound as f32 replicated of 40')
    call stream%rebind('whole', fb_at(field(:, 1)), [1], stat=stat, errmsg=errmsg)
    call refused('an array for a value', 'but bound as f64 array')
    call stream%rebind('field', fb_at(field), stat, errmsg)
    call refused('a value for an array', 'but bound as f64 replicated of 6 x 8')
    call stream%rebind('field', fb_at(field(:, 1)), [1], stat=stat, errmsg=errmsg)
    call refused('another rank', 'a box of 1 dimensions, of a global shape of 2')
    call stream%rebind('field', fb_at(singles(:, :count)), [1, first], stat=stat, errmsg=errmsg)
    call refused('another type of an array', 'but bound as f32 array')
    call stream%rebind('field', fb_at(field(:, :count)), [1, first], stat=stat, errmsg=errmsg, shape=[8, rows + 1])
    call refused('another shape', 'but bound as f64 array of 7 x 8')
    call stream%rebind('field', fb_at(field(:, :count)), [1, first], stat=stat, errmsg=errmsg, shape=[8])
    call refused('a shape of another length', "'field': shape, start and halos have different lengths")
    call table%bind(4_int64, [fb_at(brief), fb_at(x)], stat, errmsg)
    call refused('another type of a column', "column 'gas/id' is described as i64, but bound as i32")
    call table%bind(4_int64, [fb_at(x), fb_at(ids)], stat, errmsg)
    call refused('columns in another order', "column 'gas/id' is described as i64, but bound as f64")
    ids = 7
    x = 0
    call table%bind(4_int64, [fb_at(ids), fb_at(x)])
    other = whole
    call stream%rebind('whole', fb_at(other))
    call stream%rebind('field', fb_at(field(:, :count)), [1, first], shape=[8, rows])
    call stream%save(1_int64)
    call session%close()
  end subroutine

  ! PALM's calls use rank 0's value. Other ranks' values count only if the page says so.
  subroutine ranks_that_differ()
    type(fb_session) :: session
    type(fb_stream) :: stream
    type(fb_restart) :: snapshot
    real(real64), target :: dt, own
    character(len=20) :: config
    if (ranks == 1) return
    config = 'config.toml'
    if (odd) config = 'nowhere.toml'
    call session%open(MPI_COMM_WORLD, trim(run)//'-own', config=config, stat=stat, errmsg=errmsg)
    call check(stat == fb_missing .and. index(errmsg, 'nowhere.toml') > 0, 'a file that one rank lacks: '//trim(errmsg))
    call session%open(MPI_COMM_WORLD, trim(run)//'-own', config='config.toml')
    call session%stream('restart', stream, options=merge('keep = 4', 'keep = 5', odd), stat=stat, errmsg=errmsg)
    call refused('an option that differs', 'keep is 5 on rank 0 and 4 on rank ')
    call session%stream('restart', stream)
    dt = merge(0.25_real64, 0.5_real64, odd)
    own = rank + 1
    call stream%replicated('dt', fb_at(dt))
    call stream%replicated('own', fb_at(own), first_rank=.true.)
    call stream%save(1_int64, stat=stat, errmsg=errmsg)
    call refused('a value that differs', "'dt' differs between ranks: 0.5 on rank 0, 0.25 on rank ")
    dt = 0.5_real64
    call stream%save(merge(2_int64, 1_int64, odd), stat=stat, errmsg=errmsg)
    call refused('a step that differs', 'step 1, time 0')
    call stream%save(1_int64)
    call stream%newest(snapshot)
    call snapshot%read()
    call check(own > 0.5 .and. own < 1.5, "rank 0's own value")
    call check(stream%note(1) == '', 'no notes')
    call session%close()

    call checkpoint_open(trim(run)//'-unset', MPI_COMM_WORLD%MPI_VAL, config='config.toml')
    own = rank + 1
    call checkpoint_begin(1)
    call checkpoint_write('own', own, dt_replicated)
    call checkpoint_end()
    call check(checkpoint_restart(), 'a snapshot')
    call checkpoint_read('own', own, dt_replicated)
    call check(own > 0.5 .and. own < 1.5, "rank 0's own value, by PALM's calls")
    call checkpoint_close()
  end subroutine

end program

! The story of story.md, in Fortran.
program story
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64, output_unit
  use mpi_f08
  use forebay
  implicit none

  integer, parameter :: rows = 12, columns = 10, parts = 3
  integer :: rank, ranks
  integer :: first, count                               ! this rank's rows of the arrays; first from 1
  real(real64), allocatable, target :: density(:, :)    ! (0:columns+1, 0:count+1), with a halo of 1
  real(real32), allocatable, target :: velocity(:, :, :)
  integer(int32), allocatable, target :: mask(:)
  real(real64), target :: dt
  integer(int64), allocatable, target :: id(:)
  real(real64), allocatable, target :: x(:)
  character(len=1024) :: act, run, staging, config
  type(MPI_Comm) :: world  ! the ranks that compute

  call MPI_Init()
  if (command_argument_count() /= 4) call MPI_Abort(MPI_COMM_WORLD, 2)
  call get_command_argument(1, act)
  call get_command_argument(2, run)
  call get_command_argument(3, staging)
  call get_command_argument(4, config)
  call fb_dedicate(MPI_COMM_WORLD, world, trim(config))
  if (world == MPI_COMM_NULL) then
    call MPI_Finalize()
    stop
  end if
  call MPI_Comm_rank(world, rank)
  call MPI_Comm_size(world, ranks)
  first = rows*rank/ranks + 1
  count = rows*(rank + 1)/ranks - first + 1
  allocate (density(0:columns + 1, 0:count + 1), velocity(columns, count, parts), mask(count), id(0), x(0))
  density = 0
  call tell()
  call MPI_Comm_free(world)
  call MPI_Finalize()

contains

  subroutine tell()
    type(fb_session) :: session
    type(fb_stream) :: stream
    type(fb_particles) :: gas
    integer :: stat
    character(len=fb_error_bytes) :: errmsg
    if (act == 'file') then
      errmsg = ''
      if (rank == ranks - 1) config = 'nowhere.toml'
      call session%open(world, run, staging, trim(config), stat, errmsg)
      if (rank == 0) print '(3a)', fb_name_of(stat), ': ', trim(errmsg)
      return
    end if
    call session%open(world, run, staging, trim(config))
    call session%stream('restart', stream, 'slots = 2')
    select case (act)
    case ('save')
      call describe(stream, '', gas)
      call save(stream, gas, 3_int64)
      call save(stream, gas, 7_int64)
      call stream%wait_committed(60._real64)
      call session%close()
    case ('restart')
      call describe(stream, '', gas)
      call restart(stream, gas)
      call session%close()
    case ('forms')
      call forms(session)
    case ('told')
      call told(session)
    case default
      call mistake(session, stream, trim(act))
    end select
  end subroutine

  ! Compression and file form; then options that are refused.
  subroutine forms(session)
    type(fb_session), intent(inout) :: session
    type(fb_stream) :: packed, single, again
    type(fb_particles) :: of_packed, of_one
    integer :: stat
    character(len=fb_error_bytes) :: errmsg
    call session%stream('packed', packed, 'compression = { codec = "zstd", level = 5 }')
    call describe(packed, '', of_packed)
    call save(packed, of_packed, 3_int64)
    call packed%wait_committed(60._real64)
    call session%stream('one', single, 'file = "shared"'//new_line('a')//'keep = 2')
    call describe(single, '', of_one)
    call save(single, of_one, 3_int64)
    call single%wait_committed(60._real64)
    errmsg = ''
    call session%stream('packed', again, 'compression = "lz4"', stat, errmsg)
    if (rank == 0) print '(3a)', fb_name_of(stat), ': ', trim(errmsg)
    errmsg = ''
    call session%stream('cut', again, 'insitu.a = { kind = "density", variables = ["gas/x"], length = [1, 2.5, 1],' &
                        //' range = [0.5, 4], every = 2, picture = false, factor = 2 }', stat, errmsg)
    if (rank == 0) print '(3a)', fb_name_of(stat), ': ', trim(errmsg)
    call session%close()
  end subroutine

  ! An analysis finds a fulfilled condition, and all ranks receive it at the end of a step.
  subroutine told(session)
    type(fb_session), intent(inout) :: session
    type(fb_stream) :: stream
    type(fb_particles) :: gas
    type(fb_job) :: job
    call session%stream('looked', stream, 'insitu.numbers = { variables = ["mask"], condition = "*/count > 11.5",' &
                        //' action = ["save", "mark"] }')
    call describe(stream, '', gas)
    call save(stream, gas, 3_int64)
    call stream%wait_committed(60._real64)
    do
      call session%job(job)
      if (job%condition /= '') exit
    end do
    if (rank == ranks - 1) then
      print '(a, i0, a, i0, a, f0.1, a, i0, 2a)', 'save ', merge(1, 0, job%save), ', stop ', merge(1, 0, job%stop), &
        ', value ', job%value, ', step ', job%condition_step, ': ', job%condition
      print '(a)', job%reason
    end if
    call session%close()
  end subroutine

  ! `wrong` selects a wrong description, '' none.
  subroutine describe(stream, wrong, gas, stat, errmsg)
    type(fb_stream), intent(in) :: stream
    character(len=*), intent(in) :: wrong
    type(fb_particles), intent(inout) :: gas
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), allocatable, target, save :: other_type(:)
    integer(int32), allocatable, target, save :: other_rank(:, :)
    call stream%replicated('clock/dt', fb_at(dt), first_rank=wrong == 'owns')
    if (wrong == 'shape') then
      call stream%array('fields/density', fb_at(density), shape=[columns, rows + 1], start=[1, first], halo_lo=[1, 1], &
                        halo_hi=[1, 1], unit='kg m-3', description='gas density', partial=.true.)
    else
      call stream%array('fields/density', fb_at(density), shape=[columns, rows], start=[1, first], halo_lo=[1, 1], &
                        halo_hi=[1, 1], unit='kg m-3', description='gas density', dimensions=['x', 'y'])
    end if
    call stream%array('fields/velocity', fb_at(velocity), shape=[columns, rows, parts], start=[1, first, 1])
    select case (wrong)
    case ('type')
      allocate (other_type(size(mask)))
      call stream%array('mask', fb_at(other_type), shape=[rows], start=[first])
    case ('rank')
      allocate (other_rank(1, size(mask)))
      call stream%array('mask', fb_at(other_rank), shape=[1, rows], start=[1, first])
    case ('missing')
      call stream%array('maske', fb_at(mask), shape=[rows], start=[first])
    case default
      call stream%array('mask', fb_at(mask), shape=[rows], start=[first])
    end select
    call stream%particles('gas', [fb_column('id', fb_i64), fb_column('x', fb_f64)], gas, stat, errmsg)
  end subroutine

  subroutine bind(gas)
    type(fb_particles), intent(in) :: gas
    call gas%bind(size(id, kind=int64), [fb_at(id), fb_at(x)])
  end subroutine

  subroutine resize(particles)
    integer(int64), intent(in) :: particles
    deallocate (id, x)
    allocate (id(particles), x(particles))
  end subroutine

  subroutine save(stream, gas, step)
    type(fb_stream), intent(in) :: stream
    type(fb_particles), intent(in) :: gas
    integer(int64), intent(in) :: step
    type(fb_saved) :: saved
    integer :: row, column, part, global, i
    dt = 0.125
    do row = 1, count
      global = first + row - 2
      mask(row) = int(global*global + step, int32)
      do column = 1, columns
        density(column, row) = 100*global + column - 1 + 0.25_real64*real(step, real64)
        do part = 1, parts
          velocity(column, row, part) = real(1000*(part - 1) + 10*global + column - 1, real32)
        end do
      end do
    end do
    call resize(merge(0_int64, 4_int64 + rank, mod(rank, 2) == 1))
    id = [(100*rank + i, i=0, size(id) - 1)]
    x = 0.5_real64*real(id, real64)
    call bind(gas)
    call stream%save(step, 0.5_real64*real(step, real64), saved)
    if (rank == 0) print '(a,i0,2a)', 'saved step ', saved%step, ', ', &
      trim(merge('kept   ', 'skipped', saved%kept /= 0))
  end subroutine

  subroutine restart(stream, gas)
    type(fb_stream), intent(in) :: stream
    type(fb_particles), intent(in) :: gas
    type(fb_restart) :: snapshot
    real(real64) :: local(5), sums(5)
    integer(int64) :: all(0:ranks - 1)
    integer :: i
    call stream%newest(snapshot)
    call resize(snapshot%rows(gas))
    call bind(gas)
    call snapshot%read()
    local = [sum(density(1:columns, 1:count)), real(sum(real(velocity, real64)), real64), &
             real(sum(mask), real64), real(sum(id), real64), sum(x)]
    call MPI_Reduce(local, sums, 5, MPI_DOUBLE_PRECISION, MPI_SUM, 0, world)
    call MPI_Gather(size(id, kind=int64), 1, MPI_INTEGER8, all, 1, MPI_INTEGER8, 0, world)
    if (rank /= 0) return
    print '(a,i0,a,f0.2,3a,f5.3)', 'restart from step ', snapshot%step(), ', time ', snapshot%time(), ', ', &
      trim(merge('the same', 'other   ', snapshot%same_ranks())), ' ranks, dt ', dt
    print '(a,f0.2,3(a,i0),a,f0.1)', 'density ', sums(1), ' velocity ', nint(sums(2)), ' mask ', nint(sums(3)), &
      ' id ', nint(sums(4)), ' x ', sums(5)
    do i = 0, ranks - 1
      print '(a,i0,a,i0,a)', 'rank ', i, ' has ', all(i), ' particles'
    end do
  end subroutine

  ! A mistake gives the error of the first call that notices.
  subroutine mistake(session, stream, wrong)
    type(fb_session), intent(inout) :: session
    type(fb_stream), intent(in) :: stream
    character(len=*), intent(in) :: wrong
    type(fb_particles) :: gas
    type(fb_restart) :: snapshot
    type(fb_stream) :: other
    integer :: stat
    character(len=fb_error_bytes) :: errmsg
    errmsg = ''
    call describe(stream, wrong, gas, stat, errmsg)
    if (wrong == 'closed') then
      call bind(gas)
      call session%close()
      call stream%save(9_int64, stat=stat, errmsg=errmsg)
    else if (wrong == 'options') then
      call session%stream('other', other, merge('slots = 1', 'slots = 2', rank == 0), stat, errmsg)
    else if (wrong == 'differs' .or. wrong == 'owns' .or. wrong == 'steps') then
      dt = merge(0.125_real64, 0.125_real64*(1 + rank), wrong == 'steps')
      call bind(gas)
      call stream%save(merge(9_int64 + rank, 9_int64, wrong == 'steps'), stat=stat, errmsg=errmsg)
    else
      if (stat == fb_ok) call stream%newest(snapshot, stat, errmsg)
      if (stat == fb_ok) call resize(snapshot%rows(gas))
      if (stat == fb_ok) call bind(gas)
      if (stat == fb_ok) call snapshot%read(stat, errmsg)
    end if
    if (rank == 0) print '(3a)', fb_name_of(stat), ': ', trim(errmsg)
  end subroutine

end program

! Goal: PALM's three calls restart a model on another number of ranks, at once and with halos. A variable that one step
! writes and the next step omits, an unknown kind and a missing variable are refused. Method: checkpoint_test save RUN,
! then checkpoint_test restart RUN, each on any number of ranks.
program checkpoint_test
  use, intrinsic :: iso_fortran_env, only: int64, real64, error_unit
  use mpi_f08
  use forebay
  use forebay_checkpoint
  implicit none

  type :: surface
    real(real64) :: temperature
    integer :: kind
  end type

  integer, parameter :: nz = 5, ny = 12, nx = 8
  integer :: rank, ranks, y0, count, dt_3d, dt_2d, dt_1d, failures = 0, stat
  real(real64), allocatable, target :: u(:, :, :)  ! (nz, -2:count+3, nx): halo 3 in y
  real(real64), allocatable, target :: roughness(:, :)
  type(surface), allocatable, target :: surfaces(:)
  real(real64), target :: time
  integer, target :: numbers(3)
  character(len=fb_error_bytes) :: errmsg
  character(len=:), allocatable :: why
  logical :: save_now, stop_now
  real(real64) :: left
  character(len=1024) :: act, run

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(1, act)
  call get_command_argument(2, run)
  y0 = ny*rank/ranks + 1
  count = ny*(rank + 1)/ranks - y0 + 1
  allocate (u(nz, -2:count + 3, nx), roughness(nx, count), surfaces(count))
  call checkpoint_open(run, MPI_COMM_WORLD%MPI_VAL, staging='memory', options='slots = 2')
  dt_3d = checkpoint_kind([nz, ny, nx], [1, y0, 1], [0, 3, 0], [0, 3, 0])
  dt_2d = checkpoint_kind([nx, ny], [1, y0])
  dt_1d = checkpoint_kind([ny], [y0])
  if (act == 'save') then
    call check(.not. checkpoint_restart(), 'nothing to restart from')
    call check(checkpoint_step() == -1, 'no step')
    call checkpoint_define('u', u, dt_3d)
    call fill(2)
    call write_all(2)
    call fill(4)
    call write_all(4)
    call checkpoint_job(save_now, stop_now, seconds_left=left, reason=why)
    call check(save_now .and. stop_now .and. why == 'forebay stop', 'somebody ran forebay stop')
    call check(left > huge(left), 'no limit of the job')
    call checkpoint_job(save_now, stop_now)
    call check(.not. (save_now .or. stop_now), 'a request is obeyed once')
    call checkpoint_job(save_now, stop_now, stop_wanted=rank == ranks - 1, reason=why)
    call check(stop_now .and. index(why, 'the application, on rank ') == 1, 'one rank wants to end')
    call mistakes()
  else
    call fill(0)
    call check(checkpoint_restart(), 'a snapshot')
    call check(checkpoint_step() == 4, 'its step')
    call checkpoint_read('numbers', numbers, dt_replicated)
    call check(all(numbers == [4, 8, 12]), 'numbers, before anything else is read')
    call checkpoint_read('time', time, dt_replicated)
    call checkpoint_read('u', u, dt_3d)
    call checkpoint_read('roughness', roughness, dt_2d)
    call checkpoint_read('surface/temperature', surfaces%temperature, dt_1d)
    call check_values(4)
    call checkpoint_read('v', u, dt_3d, stat, errmsg)
    call check(stat == fb_missing .and. index(errmsg, "no variable 'v'") > 0, 'a variable that is not there')
    call check(checkpoint_restart(older=.true.), 'the one before')
    call checkpoint_read('u', u, dt_3d)
    call checkpoint_read('time', time, dt_replicated)
    call check(checkpoint_step() == 2 .and. time == 1, 'its values')
    call fill(6)
    call write_all(6)
  end if
  call checkpoint_close()
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (failures > 0) error stop 'some checks failed'
  if (rank == 0) print '(2a)', 'all checks passed: ', trim(act)

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    write (error_unit, '(a,i0,2a)') 'rank ', rank, ' failed: ', what
    failures = failures + 1
  end subroutine

  elemental real(real64) function value(step, z, y, x)
    integer, intent(in) :: step, z, y, x
    value = 10000*step + 1000*z + 10*y + 0.5_real64*x
  end function

  subroutine fill(step)
    integer, intent(in) :: step
    integer :: x, y, z
    time = 0.5_real64*step
    numbers = [1, 2, 3]*step
    u = -1
    do y = 1, count
      roughness(:, y) = [(value(step, 0, y0 + y - 1, x), x=1, nx)]
      surfaces(y) = surface(value(step, 9, y0 + y - 1, 0), -y)
      do x = 1, nx
        u(:, y, x) = [(value(step, z, y0 + y - 1, x), z=1, nz)]
      end do
    end do
  end subroutine

  subroutine check_values(step)
    integer, intent(in) :: step
    integer :: x, y
    call check(time == 0.5_real64*step, 'time')
    do y = 1, count
      call check(all(roughness(:, y) == [(value(step, 0, y0 + y - 1, x), x=1, nx)]), 'a plane')
      call check(surfaces(y)%temperature == value(step, 9, y0 + y - 1, 0) .and. surfaces(y)%kind == -y, 'components')
    end do
    do y = -2, count + 3
      do x = 1, nx
        if (y0 + y - 1 < 1 .or. y0 + y - 1 > ny) then
          call check(all(u(:, y, x) == -1), 'a halo outside the model stays')
        else
          call check(u(1, y, x) == value(step, 1, y0 + y - 1, x) .and. u(nz, y, x) == value(step, nz, y0 + y - 1, x), &
                     'a volume and its halo')
        end if
      end do
    end do
  end subroutine

  subroutine write_all(step)
    integer, intent(in) :: step
    type(fb_saved) :: saved
    call checkpoint_begin(step, time)
    call checkpoint_write('time', time, dt_replicated)
    call checkpoint_write('numbers', numbers, dt_replicated)
    call checkpoint_write('u', u, dt_3d)
    call checkpoint_write('roughness', roughness, dt_2d)
    call checkpoint_write('surface/temperature', surfaces%temperature, dt_1d)
    call checkpoint_end(saved)
    call check(saved%kept == 1 .and. saved%step == step, 'a step is kept')
  end subroutine

  subroutine mistakes()
    call checkpoint_write('time', time, dt_replicated, stat, errmsg)
    call check(stat == fb_refused .and. index(errmsg, 'outside a step') > 0, 'writing outside a step')
    call checkpoint_begin(-1, stat=stat, errmsg=errmsg)
    call check(stat == fb_refused, 'a negative step')
    call checkpoint_begin(5)
    call checkpoint_write('time', time, 77, stat, errmsg)
    call check(stat == fb_refused .and. index(errmsg, 'kind is unknown') > 0, 'a kind that nobody made')
    call checkpoint_write('time', time, dt_replicated)
    call checkpoint_end(stat=stat, errmsg=errmsg)
    call check(stat == fb_refused .and. index(errmsg, 'but not in this step') > 0, 'a forgotten variable: '//trim(errmsg))
  end subroutine

end program

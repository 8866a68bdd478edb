!> The list of all restarted variables. Saving and reading walk the same list. Only this file and keep.f90 call Forebay.
module les_restart
  use, intrinsic :: iso_fortran_env, only: int64
  use forebay_checkpoint
  use les_grid
  use les_control
  use les_fields
  use les_halo, only: exchanges
  use les_dynamics
  use les_pressure, only: iterations_last, iterations_max, iterations_total, divergence_before
  use les_moments
  use les_statistics
  use les_keep
  implicit none
  private

  ! The chain of jobs: restarts, saves, the ranks of the last save, seconds, times of the start and of the last save.
  integer, target, save :: restarts = 0, saves = 0, saved_px = 0, saved_py = 0
  real(wp), target, save :: wall_seconds = 0
  character(len=24), target, save :: started_at = '', saved_at = ''
  integer(int64), save :: ticks_before = 0

  public :: restart_open, restart_read, restart_save, restart_job, restart_close

contains

  subroutine restart_open()
    call checkpoint_open(trim(run), comm%MPI_VAL, staging=trim(staging), config=trim(config))
    call keep_prepare()
    started_at = now()
    call system_clock(ticks_before)
  end subroutine

  !> Reads the newest snapshot; .false. if the run has none. The caller must exchange the halos: Forebay does not fill
  !> halos across the cyclic boundary.
  logical function restart_read()
    restart_read = checkpoint_restart()
    if (.not. restart_read) return
    call keep_begin(reading=.true.)
    call walk()
    call keep_end('read', step)
    if (rank == 0) print '(a,i0,4(a,i0))', 'restart: continued at step ', step, ', saved by ', saved_px, ' x ', saved_py, &
      ' ranks, on ', px, ' x ', py
    restarts = restarts + 1
  end function

  !> Says if the job must save now, or save and end: its time limit is near, or somebody ran `forebay stop`.
  subroutine restart_job(save_now, stop_now)
    logical, intent(out) :: save_now, stop_now
    character(len=:), allocatable :: reason
    call checkpoint_job(save_now, stop_now, reason=reason)
    if (rank == 0 .and. save_now) print '(4a)', 'job: save', trim(merge(' and end', '        ', stop_now)), ': ', reason
  end subroutine

  subroutine restart_save()
    integer(int64) :: ticks, rate
    saves = saves + 1
    saved_px = px
    saved_py = py
    call system_clock(ticks, rate)
    wall_seconds = wall_seconds + real(ticks - ticks_before, wp)/rate
    ticks_before = ticks
    saved_at = now()
    call agree_on_time()
    call checkpoint_begin(step, time)
    call keep_begin(reading=.false.)
    call walk()
    call keep_end('save', step)
    call checkpoint_end()
    if (rank == 0) print '(a,i0)', 'saved step ', step
  end subroutine

  !> Waits until all saves are committed.
  subroutine restart_close()
    call checkpoint_close()
  end subroutine

  subroutine walk()
    integer :: n
    call keep_inner('u', u)
    call keep_inner('v', v)
    call keep_inner('w', w)
    call keep_inner('theta', theta)
    call keep_inner('q', q)
    call keep_inner('p', p)
    call keep_inner('km', km)
    call keep_inner('theta_av', theta_av)
    call keep_inner('w_av', w_av)
    do n = 1, size(plane_names)
      call keep_inner(trim(plane_names(n)), planes(:, :, n))
    end do
    do n = 1, size(level_names)
      call keep('levels/'//trim(level_names(n)), levels(:, n))
    end do
    do n = 1, size(profile_names)
      call keep('profiles/'//trim(profile_names(n)), profiles(:, n))
      call keep('profile_sums/'//trim(profile_names(n)), profile_sums(:, n))
    end do
    call keep('history', history)
    call walk_parameters()
    call walk_statistics()
    call walk_clock()
  end subroutine

  subroutine walk_parameters()
    call keep('nx', nx); call keep('ny', ny); call keep('nz', nz)
    call keep('window_steps', window_steps); call keep('seed', seed)
    call keep('title', title); call keep('start', start); call keep('wall', wall)
    call keep('adaptive_dt', adaptive_dt); call keep('buoyant', buoyant)
    call keep('interactive_surface', interactive_surface); call keep('damped', damped)
    call keep('dx', dx); call keep('dy', dy); call keep('dz', dz)
    call keep('dt_max', dt_max); call keep('cfl_max', cfl_max)
    call keep('u_geostrophic', u_geostrophic); call keep('v_geostrophic', v_geostrophic)
    call keep('coriolis', coriolis); call keep('gravity', gravity)
    call keep('theta_gradient', theta_gradient); call keep('parameters/theta_surface', theta_surface)
    call keep('inversion_height', inversion_height); call keep('inversion_jump', inversion_jump)
    call keep('smagorinsky', smagorinsky); call keep('prandtl', prandtl); call keep('km_background', km_background)
    call keep('roughness', roughness); call keep('roughness_contrast', roughness_contrast)
    call keep('heating', heating); call keep('heating_contrast', heating_contrast)
    call keep('tracer_surface', tracer_surface); call keep('surface_depth', surface_depth)
    call keep('damping_height', damping_height); call keep('damping_rate', damping_rate)
    call keep('subsidence', subsidence); call keep('perturbation', perturbation)
    call keep('divergence_tolerance', divergence_tolerance)
  end subroutine

  subroutine walk_statistics()
    character(len=*), parameter :: ends(2) = ['max', 'min'], axes = 'xyz', &
                                   sums(4) = [character(len=8) :: 'now', 'sum', 'smallest', 'largest']
    integer :: n, m, axis
    do n = 1, size(extreme_names)
      do m = 1, 2
        call keep('extremes/'//trim(extreme_names(n))//'/'//ends(m), extremes(m, n))
        do axis = 1, 3
          call keep('places/'//trim(extreme_names(n))//'/'//ends(m)//'/'//axes(axis:axis), places(axis, m, n))
        end do
      end do
    end do
    do n = 1, size(series_names)
      do m = 1, 4
        call keep('series/'//trim(series_names(n))//'/'//trim(sums(m)), series(m, n))
      end do
    end do
    do n = 1, size(budget_names)
      call keep('budgets/'//trim(budget_names(n)), budgets(n))
    end do
    call keep('samples', samples); call keep('windows', windows); call keep('stationary', stationary)
    call keep('window_start', window_start); call keep('window_energy', window_energy)
    call keep('energy_sum', energy_sum)
  end subroutine

  subroutine walk_clock()
    call keep('step', step); call keep('time', time); call keep('dt', dt); call keep('limited_by', limited_by)
    call keep('steps_limited/maximum', steps_limited(1)); call keep('steps_limited/advection', steps_limited(2))
    call keep('steps_limited/diffusion', steps_limited(3))
    call keep('iterations_last', iterations_last); call keep('iterations_max', iterations_max)
    call keep('iterations_total', iterations_total); call keep('divergence_before', divergence_before)
    call keep('exchanges', exchanges)
    call keep('restarts', restarts); call keep('saves', saves); call keep('wall_seconds', wall_seconds)
    call keep('saved_px', saved_px); call keep('saved_py', saved_py)
    call keep('started_at', started_at); call keep('saved_at', saved_at)
  end subroutine

  ! A replicated variable must be equal on every rank, but clocks differ.
  subroutine agree_on_time()
    use mpi_f08
    call MPI_Bcast(wall_seconds, 1, MPI_DOUBLE_PRECISION, 0, comm)
    call MPI_Bcast(saved_at, len(saved_at), MPI_CHARACTER, 0, comm)
    call MPI_Bcast(started_at, len(started_at), MPI_CHARACTER, 0, comm)
  end subroutine

  character(len=24) function now()
    character(len=8) :: date
    character(len=10) :: clock
    call date_and_time(date, clock)
    now = date//' '//clock
  end function

end module les_restart

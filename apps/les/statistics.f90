!> Statistics of the run: horizontal means by level, extremes and their places, time series, budgets, and means over
!> windows of time. All are equal on every rank, except the window's volumes and planes.
module les_statistics
  use mpi_f08
  use les_grid
  use les_control
  use les_fields
  use les_moments
  use les_pressure, only: divergence, iterations_last
  implicit none
  private

  character(len=*), parameter, public :: extreme_names(7) = [character(len=8) :: 'u', 'v', 'w', 'theta', 'q', 'p', 'km']
  real(wp), target, public :: extremes(2, 7) = 0  ! largest and smallest, of the last step
  integer, target, public :: places(3, 2, 7) = 0  ! x, y, level of the extremes

  character(len=*), parameter, public :: series_names(15) = [character(len=18) :: 'u_max', 'v_max', 'w_max', &
    'divergence', 'kinetic_energy', 'friction_velocity', 'heat_flux', 'tracer_flux', 'theta_mean', 'q_mean', &
    'theta_variance', 'turbulent_energy', 'layer_height', 'iterations', 'dt']
  real(wp), target, public :: series(4, 15) = 0   ! now, sum over the steps, smallest, largest
  real(wp), pointer, public :: energy => series(1, 5), divergence_max => series(1, 4)

  !> For a square metre: heat in K m, tracer in m, stress in m2/s, work and dissipation in m3/s2.
  character(len=*), parameter, public :: budget_names(12) = [character(len=15) :: 'heat_start', 'heat_surface', 'heat_now', &
    'tracer_start', 'tracer_surface', 'tracer_now', 'stress_x', 'stress_y', 'work_buoyancy', 'work_wind', 'dissipation', &
    'energy_start']
  real(wp), target, public :: budgets(12) = 0

  integer, target, public :: samples = 0, windows = 0       ! steps in this window; finished windows
  !> The time when this window began, the mean energy of the last window, and the energy sum of this window.
  real(wp), target, public :: window_start = 0, window_energy = 0, energy_sum = 0
  logical, target, public :: stationary = .false.           ! the last two windows' energies differ by less than 1 %
  !> Dimensions: level, variable (u, v, w, theta, q), mean or variance, the last four windows.
  real(wp), allocatable, target, public :: history(:, :, :, :)

  public :: statistics_allocate, statistics_start, statistics_update

contains

  subroutine statistics_allocate()
    call moments_allocate()
    allocate (history(0:nz + 1, 5, 2, 4), source=0._wp)
  end subroutine

  !> Takes the first state. Budgets are relative to it.
  subroutine statistics_start()
    call moments_update()
    budgets([1, 3]) = sum(profiles(1:nz, 4))*dz
    budgets([4, 6]) = sum(profiles(1:nz, 5))*dz
    call update_series(0._wp)
    budgets(12) = energy*nz*dz
    series(2:, :) = 0
    series(3, :) = huge(0._wp)
    series(4, :) = -huge(0._wp)
  end subroutine

  !> Call it after each step. dt: the length of the step; time: its end.
  subroutine statistics_update(dt, time)
    real(wp), intent(in) :: dt, time
    call moments_update()
    call update_extremes()
    call update_series(dt)
    call update_window(time)
  end subroutine

  subroutine update_extremes()
    integer :: n
    real(wp) :: pairs(2, 2, 7)  ! value and place; a minimum is the maximum of the negative
    call find(u, 1)
    call find(v, 2)
    call find(w, 3)
    call find(theta, 4)
    call find(q, 5)
    call find(p, 6)
    call find(km, 7)
    ! If values are equal, MPI takes the lowest place, on any ranks.
    call MPI_Allreduce(MPI_IN_PLACE, pairs, 14, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, comm)
    extremes(1, :) = pairs(1, 1, :)
    extremes(2, :) = -pairs(1, 2, :)
    do n = 1, 7
      places(1, :, n) = int(pairs(2, :, n)/(real(ny, wp)*nz))
      places(2, :, n) = int(mod(pairs(2, :, n), real(ny, wp)*nz)/nz)
      places(3, :, n) = int(mod(pairs(2, :, n), real(nz, wp))) + 1
    end do

  contains

    subroutine find(a, n)
      real(wp), intent(in) :: a(0:, nys - halo:, nxl - halo:)
      integer, intent(in) :: n
      integer :: at(3)
      ! maxloc and minloc find the first in array order. It is also the lowest place: in both, levels run fastest.
      at = maxloc(a(1:nz, nys:nyn, nxl:nxr))
      pairs(:, 1, n) = [a(at(1), nys + at(2) - 1, nxl + at(3) - 1), place(at)]
      at = minloc(a(1:nz, nys:nyn, nxl:nxr))
      pairs(:, 2, n) = [-a(at(1), nys + at(2) - 1, nxl + at(3) - 1), place(at)]
    end subroutine

    real(wp) function place(at)
      integer, intent(in) :: at(3)
      place = (real(nxl + at(3) - 1, wp)*ny + nys + at(2) - 1)*nz + at(1) - 1
    end function
  end subroutine

  subroutine update_series(dt)
    real(wp), intent(in) :: dt
    real(wp) :: sums(6), largest, height
    integer :: n, planes_used(5)
    height = nz*dz
    planes_used = [1, 4, 5, 6, 7]
    do n = 1, 5
      sums(n) = sum(planes(nys:nyn, nxl:nxr, lbound(planes, 3) + planes_used(n) - 1))
    end do
    sums(6) = 0.5_wp*(sum(u(1:nz, nys:nyn, nxl:nxr)**2) + sum(v(1:nz, nys:nyn, nxl:nxr)**2) &
                      + sum(w(1:nz, nys:nyn, nxl:nxr)**2))/nz
    call MPI_Allreduce(MPI_IN_PLACE, sums, 6, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
    sums = sums/(real(nx, wp)*ny)
    largest = maxval(abs(divergence()))
    call MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, comm)
    series(1, 1:3) = maxval(abs(extremes(:, 1:3)), 1)
    series(1, 4:8) = [largest, sums(6), sums(1), sums(4), sums(5)]
    series(1, 9:12) = sum(profiles(1:nz, [4, 5, 11, 22]), 1)/nz
    series(1, 13) = zw(maxloc(profiles(2:nz, 4) - profiles(1:nz - 1, 4), 1))
    series(1, 14:15) = [real(iterations_last, wp), dt]
    series(2, :) = series(2, :) + series(1, :)
    series(3, :) = min(series(3, :), series(1, :))
    series(4, :) = max(series(4, :), series(1, :))
    budgets(3) = sum(profiles(1:nz, 4))*dz
    budgets(6) = sum(profiles(1:nz, 5))*dz
    budgets([7, 8, 2, 5]) = budgets([7, 8, 2, 5]) + dt*sums(2:5)
    budgets(9) = budgets(9) + dt*gravity/theta_surface*sum(profiles(1:nz, 15))*dz
    budgets(10) = budgets(10) + dt*coriolis*sum(profiles(1:nz, 2)*ug(1:nz) - profiles(1:nz, 1)*vg(1:nz))*dz
    budgets(11) = budgets(11) + dt*sum(profiles(1:nz, 23))*dz
  end subroutine

  subroutine update_window(time)
    real(wp), intent(in) :: time
    integer :: n
    samples = samples + 1
    theta_av = theta_av + (theta - theta_av)/samples
    w_av = w_av + (w - w_av)/samples
    do n = 1, size(averaged)
      planes(:, :, 14 + n) = planes(:, :, 14 + n) + (planes(:, :, averaged(n)) - planes(:, :, 14 + n))/samples
    end do
    profile_sums = profile_sums + profiles
    energy_sum = energy_sum + energy
    if (samples < window_steps) return
    history(:, :, 1, mod(windows, 4) + 1) = profile_sums(:, 1:5)/samples
    history(:, :, 2, mod(windows, 4) + 1) = profile_sums(:, 8:12)/samples
    stationary = abs(energy_sum/samples - window_energy) < 0.01_wp*window_energy
    window_energy = energy_sum/samples
    window_start = time
    windows = windows + 1
    samples = 0
    energy_sum = 0
    profile_sums = 0
    speed_max = 0
  end subroutine

end module les_statistics

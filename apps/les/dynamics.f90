!> One step: the surface, three Runge-Kutta stages, and the eddies of the next step. Each stage ends free of divergence.
module les_dynamics
  use mpi_f08
  use les_grid
  use les_control
  use les_fields
  use les_halo, only: exchange
  use les_transport
  use les_pressure, only: pressure_project
  use les_surface, only: surface_update
  use les_closure, only: closure_update
  implicit none
  private

  integer, target, public :: step = 0
  real(wp), target, public :: time = 0, dt = 0
  character(len=16), target, public :: limited_by = 'nothing yet'  ! the limit of the last dt
  integer, target, public :: steps_limited(3) = 0                  ! counts: 'maximum', 'advection', 'diffusion'
  public :: dynamics_prepare, dynamics_step

  real(wp), allocatable :: tendency(:, :, :, :), before(:, :, :, :)  ! u, v, w, theta, q; no horizontal halos
  real(wp), allocatable :: cx(:, :, :), cy(:, :, :), cz(:, :, :), viscosity(:, :, :)

contains

  !> Fills the halos and walls after a start or a restart.
  subroutine dynamics_prepare()
    integer :: n
    if (.not. allocated(tendency)) then
      allocate (tendency(0:nz + 1, nys:nyn, nxl:nxr, 5), source=0._wp)
      allocate (before, source=tendency)
      allocate (cx, cy, cz, viscosity, mold=u)
    end if
    call finish_stage()
    call exchange(p)
    call exchange(km)
    do n = 1, size(planes, 3)
      call exchange(planes(:, :, n))
    end do
  end subroutine

  subroutine dynamics_step()
    real(wp), parameter :: parts(3) = [1/3._wp, 1/2._wp, 1._wp]
    integer :: stage
    call choose_dt()
    call surface_update(dt)
    ! Every stage starts again from the values before the step.
    before(:, :, :, 1) = inner(u)
    before(:, :, :, 2) = inner(v)
    before(:, :, :, 3) = inner(w)
    before(:, :, :, 4) = inner(theta)
    before(:, :, :, 5) = inner(q)
    do stage = 1, 3
      call tendencies()
      call advance(u, 1, nz)
      call advance(v, 2, nz)
      call advance(w, 3, nz - 1)
      call advance(theta, 4, nz)
      call advance(q, 5, nz)
      call finish_stage()
      call pressure_project(dt*parts(stage))
      call finish_stage()
    end do
    call closure_update()
    time = time + dt
    step = step + 1

  contains

    subroutine advance(a, n, top)
      real(wp), intent(inout) :: a(0:, nys - halo:, nxl - halo:)
      integer, intent(in) :: n, top
      a(1:top, nys:nyn, nxl:nxr) = before(1:top, :, :, n) + dt*parts(stage)*tendency(1:top, :, :, n)
    end subroutine
  end subroutine

  subroutine finish_stage()
    call exchange(u)
    call exchange(v)
    call exchange(w)
    call exchange(theta)
    call exchange(q)
    call fields_walls()
  end subroutine

  pure function inner(a)
    real(wp), intent(in) :: a(0:, nys - halo:, nxl - halo:)
    real(wp) :: inner(0:nz + 1, nys:nyn, nxl:nxr)
    inner = a(:, nys:nyn, nxl:nxr)
  end function

  subroutine tendencies()
    integer :: n
    call carry(mean_x(u), mean_x(v), mean_x(w), mean_x(km), u, nz, 1)
    call carry(mean_y(u), mean_y(v), mean_y(w), mean_y(km), v, nz, 2)
    call carry(mean_z(u), mean_z(v), mean_z(w), mean_z(km), w, nz - 1, 3)
    call carry(u, v, w, km/prandtl, theta, nz, 4)
    call transport(tendency(:, :, :, 5), q, cx, cy, cz, viscosity, nz)
    call forces()
    if (wall == 'rough') then
      tendency(1, :, :, 1) = tendency(1, :, :, 1) + usws(nys:nyn, nxl:nxr)/dz
      tendency(1, :, :, 2) = tendency(1, :, :, 2) + vsws(nys:nyn, nxl:nxr)/dz
      tendency(1, :, :, 4) = tendency(1, :, :, 4) + shf(nys:nyn, nxl:nxr)/dz
      tendency(1, :, :, 5) = tendency(1, :, :, 5) + qsws(nys:nyn, nxl:nxr)/dz
    end if
    if (subsidence <= 0) return
    do n = 1, nz
      tendency(n, :, :, 4) = tendency(n, :, :, 4) - ws(n)*(theta(n + 1, nys:nyn, nxl:nxr) - theta(n, nys:nyn, nxl:nxr))/dz
      tendency(n, :, :, 5) = tendency(n, :, :, 5) - ws(n)*(q(n + 1, nys:nyn, nxl:nxr) - q(n, nys:nyn, nxl:nxr))/dz
    end do
  end subroutine

  ! along_z: the velocity at the level below the face, because w lies at a cell's top.
  subroutine carry(along_x, along_y, along_z, diffusivity, s, top, n)
    real(wp), intent(in) :: along_x(:, :, :), along_y(:, :, :), along_z(:, :, :), diffusivity(:, :, :), s(:, :, :)
    integer, intent(in) :: top, n
    cx = along_x
    cy = along_y
    cz = eoshift(along_z, -1, dim=1)
    viscosity = diffusivity
    call transport(tendency(:, :, :, n), s, cx, cy, cz, viscosity, top)
  end subroutine

  ! The Earth's rotation relative to the geostrophic wind, buoyancy relative to the first profile, and the top sponge.
  subroutine forces()
    integer :: i, j, k
    real(wp) :: wind
    do i = nxl, nxr
      do j = nys, nyn
        do k = 1, nz
          wind = 0.25_wp*(v(k, j, i) + v(k, j + 1, i) + v(k, j, i - 1) + v(k, j + 1, i - 1))
          tendency(k, j, i, 1) = tendency(k, j, i, 1) + coriolis*(wind - vg(k)) - damping(k)*(u(k, j, i) - ug(k))
          wind = 0.25_wp*(u(k, j, i) + u(k, j, i + 1) + u(k, j - 1, i) + u(k, j - 1, i + 1))
          tendency(k, j, i, 2) = tendency(k, j, i, 2) - coriolis*(wind - ug(k)) - damping(k)*(v(k, j, i) - vg(k))
          tendency(k, j, i, 3) = tendency(k, j, i, 3) - damping(k)*w(k, j, i)
          if (buoyant) tendency(k, j, i, 3) = tendency(k, j, i, 3) + gravity/theta_surface*0.5_wp* &
            (theta(k, j, i) - theta_ref(k) + theta(k + 1, j, i) - theta_ref(k + 1))
        end do
      end do
    end do
  end subroutine

  ! The longest stable step. It uses a maximum over ranks, so any number of ranks gets the same step.
  subroutine choose_dt()
    character(len=16), parameter :: limits(3) = [character(len=16) :: 'maximum', 'advection', 'diffusion']
    real(wp) :: rates(2), allowed(3)
    integer :: limit
    rates = [maxval(abs(inner(u))/dx + abs(inner(v))/dy + abs(inner(w))/dz), maxval(inner(km))]
    call MPI_Allreduce(MPI_IN_PLACE, rates, 2, MPI_DOUBLE_PRECISION, MPI_MAX, comm)
    allowed(1) = dt_max
    allowed(2) = cfl_max/max(rates(1), tiny(1._wp)*1e10_wp)
    allowed(3) = 0.25_wp*min(prandtl, 1._wp)/max(rates(2)*(1/dx**2 + 1/dy**2 + 1/dz**2), tiny(1._wp)*1e10_wp)
    limit = 1
    if (adaptive_dt) limit = minloc(allowed, 1)
    dt = allowed(limit)
    limited_by = limits(limit)
    steps_limited(limit) = steps_limited(limit) + 1
  end subroutine

end module les_dynamics

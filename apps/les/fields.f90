!> The state on the grid: volumes (z,y,x) and planes (y,x), with halos. Arakawa's C grid: u lies at a cell's western
!> face, v at its southern face, w at its top, all other fields at its centre.
module les_fields
  use les_grid
  use les_control
  implicit none
  private

  real(wp), allocatable, target, public :: u(:, :, :), v(:, :, :), w(:, :, :)  ! m/s
  real(wp), allocatable, target, public :: theta(:, :, :)          ! potential temperature, K
  real(wp), allocatable, target, public :: q(:, :, :)              ! a passive tracer
  real(wp), allocatable, target, public :: p(:, :, :)              ! pressure over density; next solve's first guess
  real(wp), allocatable, target, public :: km(:, :, :)             ! eddy viscosity for the next step, m2/s
  real(wp), allocatable, target, public :: theta_av(:, :, :), w_av(:, :, :)  ! means over the window

  character(len=*), parameter, public :: plane_names(21) = [character(len=16) :: 'us', 'ts', 'qs', 'usws', 'vsws', 'shf', &
    'qsws', 'ol', 'z0', 'z0h', 'theta_surface', 'q_surface', 'radiation', 'tracer_path', 'us_av', 'usws_av', 'vsws_av', &
    'shf_av', 'qsws_av', 'theta_surf_av', 'speed_max']
  real(wp), allocatable, target, public :: planes(:, :, :)         ! the last dimension: plane_names
  integer, parameter, public :: averaged(6) = [1, 4, 5, 6, 7, 11]  ! planes 15 to 20 hold the means of these planes
  real(wp), pointer, public :: us(:, :), ts(:, :), qs(:, :)        ! scales of wind, temperature, tracer
  real(wp), pointer, public :: usws(:, :), vsws(:, :), shf(:, :), qsws(:, :)  ! kinematic fluxes, upwards
  real(wp), pointer, public :: ol(:, :), z0(:, :), z0h(:, :)       ! Obukhov's length, roughness lengths
  real(wp), pointer, public :: t_surface(:, :), q_surface(:, :), radiation(:, :), tracer_path(:, :), speed_max(:, :)

  !> By level (0:nz+1): centre and top heights, geostrophic wind, first profiles, subsidence, damping, mixing length.
  character(len=*), parameter, public :: level_names(9) = [character(len=16) :: 'zu', 'zw', 'ug', 'vg', 'theta_ref', &
    'q_ref', 'w_subsidence', 'damping', 'mixing_length']
  real(wp), allocatable, target, public :: levels(:, :)
  real(wp), pointer, public :: zu(:), zw(:), ug(:), vg(:), theta_ref(:), q_ref(:), ws(:), damping(:), length(:)

  public :: fields_allocate, fields_walls

contains

  subroutine fields_allocate()
    integer :: y0, x0
    y0 = nys - halo
    x0 = nxl - halo
    allocate (u(0:nz + 1, y0:nyn + halo, x0:nxr + halo), source=0._wp)
    allocate (v, w, theta, q, p, km, theta_av, w_av, source=u)
    allocate (planes(y0:nyn + halo, x0:nxr + halo, size(plane_names)), levels(0:nz + 1, size(level_names)), source=0._wp)
    us(y0:, x0:) => planes(:, :, 1)
    ts(y0:, x0:) => planes(:, :, 2)
    qs(y0:, x0:) => planes(:, :, 3)
    usws(y0:, x0:) => planes(:, :, 4)
    vsws(y0:, x0:) => planes(:, :, 5)
    shf(y0:, x0:) => planes(:, :, 6)
    qsws(y0:, x0:) => planes(:, :, 7)
    ol(y0:, x0:) => planes(:, :, 8)
    z0(y0:, x0:) => planes(:, :, 9)
    z0h(y0:, x0:) => planes(:, :, 10)
    t_surface(y0:, x0:) => planes(:, :, 11)
    q_surface(y0:, x0:) => planes(:, :, 12)
    radiation(y0:, x0:) => planes(:, :, 13)
    tracer_path(y0:, x0:) => planes(:, :, 14)
    speed_max(y0:, x0:) => planes(:, :, 21)
    zu(0:) => levels(:, 1)
    zw(0:) => levels(:, 2)
    ug(0:) => levels(:, 3)
    vg(0:) => levels(:, 4)
    theta_ref(0:) => levels(:, 5)
    q_ref(0:) => levels(:, 6)
    ws(0:) => levels(:, 7)
    damping(0:) => levels(:, 8)
    length(0:) => levels(:, 9)
  end subroutine

  !> Values beyond the walls: no flux of fields at centres, no flow through the walls.
  subroutine fields_walls()
    call closed(u)
    call closed(v)
    call closed(theta)
    call closed(q)
    w(0, :, :) = 0
    w(nz:, :, :) = 0
  end subroutine

  subroutine closed(a)
    real(wp), intent(inout) :: a(0:, :, :)
    a(0, :, :) = a(1, :, :)
    a(nz + 1, :, :) = a(nz, :, :)
  end subroutine

end module les_fields

!> The lower wall: friction and fluxes by the logarithmic law, and the temperature of the surface.
module les_surface
  use les_grid
  use les_control
  use les_fields
  implicit none
  private
  public :: surface_update

  real(wp), parameter :: karman = 0.4_wp, gust = 0.1_wp  ! gust: the wind speed in calm air, m/s

contains

  !> Computes the fluxes for the next step, of length dt, and then the surface temperature after it.
  subroutine surface_update(dt)
    real(wp), intent(in) :: dt
    real(wp) :: drag(nys - 1:nyn, nxl - 1:nxr)  ! stress over velocity; begins a cell before: u, v lie at faces
    real(wp) :: speed
    integer :: i, j
    if (wall == 'slip') return
    do i = nxl - 1, nxr
      do j = nys - 1, nyn
        speed = sqrt(0.25_wp*((u(1, j, i) + u(1, j, i + 1))**2 + (v(1, j, i) + v(1, j + 1, i))**2) + gust**2)
        us(j, i) = karman*speed/log(zu(1)/z0(j, i))
        drag(j, i) = us(j, i)**2/speed
        speed_max(j, i) = max(speed_max(j, i), speed)
      end do
    end do
    do i = nxl, nxr
      do j = nys, nyn
        usws(j, i) = -0.5_wp*(drag(j, i - 1) + drag(j, i))*u(1, j, i)
        vsws(j, i) = -0.5_wp*(drag(j - 1, i) + drag(j, i))*v(1, j, i)
        call scalars(us(j, i), karman/log(zu(1)/z0h(j, i)), j, i)
        if (interactive_surface) t_surface(j, i) = t_surface(j, i) + dt*(radiation(j, i) - shf(j, i))/surface_depth
        tracer_path(j, i) = sum(q(1:nz, j, i))*dz
      end do
    end do
  end subroutine

  subroutine scalars(friction, transfer, j, i)
    real(wp), intent(in) :: friction, transfer
    integer, intent(in) :: j, i
    shf(j, i) = radiation(j, i)
    if (interactive_surface) shf(j, i) = friction*transfer*(t_surface(j, i) - theta(1, j, i))
    qsws(j, i) = friction*transfer*(q_surface(j, i) - q(1, j, i))
    ts(j, i) = -shf(j, i)/friction
    qs(j, i) = -qsws(j, i)/friction
    ! Neutral air has an infinite length: 1e6 m, beyond any model, stands for it.
    ol(j, i) = 1e6_wp
    if (abs(shf(j, i)) > 1e-9_wp) ol(j, i) = -friction**3*theta(1, j, i)/(karman*gravity*shf(j, i))
    if (abs(ol(j, i)) > 1e6_wp) ol(j, i) = sign(1e6_wp, ol(j, i))
  end subroutine

end module les_surface

!> The first state. Patterns in x and y are functions of the global position, so they are the same on any ranks.
module les_start
  use les_grid
  use les_control
  use les_fields
  use les_halo, only: exchange
  implicit none
  private
  public :: start_fields

  real(wp), parameter :: pi = acos(-1._wp)

contains

  subroutine start_fields()
    integer :: i, j, k
    call start_levels()
    do i = nxl, nxr
      do j = nys, nyn
        theta(:, j, i) = theta_ref
        q(:, j, i) = q_ref
        if (start == 'layer') then
          u(:, j, i) = ug
          v(:, j, i) = vg
          do k = 1, nz/2
            theta(k, j, i) = theta(k, j, i) + perturbation*noise(i, j, k)
          end do
        else if (start == 'taylor-green') then
          u(:, j, i) = ug + perturbation*sin(2*pi*i/nx)*cos(2*pi*(j + 0.5_wp)/ny)
          v(:, j, i) = vg - perturbation*cos(2*pi*(i + 0.5_wp)/nx)*sin(2*pi*j/ny)*(ny*dy)/(nx*dx)
        else if (start == 'rolls') then
          u(:, j, i) = ug + perturbation*sin(2*pi*i/nx)*cos(pi*zu/(nz*dz))
          v(:, j, i) = vg
          w(:, j, i) = -perturbation*cos(2*pi*(i + 0.5_wp)/nx)*sin(pi*zw/(nz*dz))*2*nz*dz/(nx*dx)
        else
          theta(:, j, i) = theta_ref + perturbation*cos(pi*zu/(nz*dz))
        end if
        z0(j, i) = roughness*(1 + roughness_contrast*sin(2*pi*i/nx)*cos(2*pi*j/ny))
        z0h(j, i) = 0.1_wp*z0(j, i)
        radiation(j, i) = heating*(1 + heating_contrast*cos(2*pi*i/nx)*sin(4*pi*j/ny))
        t_surface(j, i) = theta_ref(1)
        q_surface(j, i) = tracer_surface
      end do
    end do
    km = km_background
  end subroutine

  subroutine start_levels()
    integer :: k
    do k = 0, nz + 1
      zu(k) = (k - 0.5_wp)*dz
      zw(k) = k*dz
      theta_ref(k) = theta_surface + theta_gradient*max(zu(k) - inversion_height, 0._wp) &
                     + inversion_jump*min(max((zu(k) - inversion_height)/(3*dz), 0._wp), 1._wp)
      q_ref(k) = 0.5_wp*tracer_surface*exp(-max(zu(k), 0._wp)/inversion_height)
      ws(k) = -subsidence*zw(k)/(nz*dz)
      if (damped) damping(k) = damping_rate*sin(0.5_wp*pi*max(zw(k) - damping_height, 0._wp)/(nz*dz))**2
      ! Eddies are not larger than the grid cells, and not larger than their distance to the ground.
      length(k) = min(smagorinsky*(dx*dy*dz)**(1._wp/3), 0.4_wp*max(zu(k), 0.5_wp*dz))*merge(1, 0, smagorinsky > 0)
    end do
    if (start /= 'rest') then
      ug = u_geostrophic
      vg = v_geostrophic
    end if
  end subroutine

  ! Noise in [-1, 1), from congruences of the place.
  pure real(wp) function noise(i, j, k)
    integer, intent(in) :: i, j, k
    integer, parameter :: modulus = 32749
    integer :: x, round
    x = mod(seed*7919 + i*31 + j*1009 + k*5003, modulus)
    do round = 1, 3
      x = mod(x*x + 12345*modulo(i + round, 13) + 6007*j + k, modulus)
    end do
    noise = 2*real(x, wp)/modulus - 1
  end function

end module les_start

!> Eddies smaller than the grid: Smagorinsky's viscosity. Stable stratification lowers it.
module les_closure
  use les_grid
  use les_control
  use les_fields
  use les_halo, only: exchange
  implicit none
  private
  public :: closure_update

  real(wp), allocatable, public :: dissipation(:, :, :)  ! of the resolved wind, m2/s3; (1:nz), without halos

contains

  !> Computes km and dissipation from the present wind and temperature.
  subroutine closure_update()
    real(wp) :: strain2, buoyancy2, g(3, 3)
    integer :: i, j, k
    if (.not. allocated(dissipation)) allocate (dissipation(nz, nys:nyn, nxl:nxr))
    do i = nxl, nxr
      do j = nys, nyn
        do k = 1, nz
          g = gradients(k, j, i)
          strain2 = 0.5_wp*sum((g + transpose(g))**2)
          buoyancy2 = 0
          if (buoyant) buoyancy2 = gravity/theta_surface*(theta(k + 1, j, i) - theta(k - 1, j, i))/(2*dz)
          km(k, j, i) = km_background + length(k)**2*sqrt(max(strain2 - buoyancy2/prandtl, 0._wp))
          dissipation(k, j, i) = km(k, j, i)*strain2
        end do
        km(0, j, i) = km(1, j, i)
        km(nz + 1, j, i) = km(nz, j, i)
      end do
    end do
    call exchange(km)
  end subroutine

  ! Gradients at a cell's centre. Rows: u, v, w. Columns: x, y, z.
  pure function gradients(k, j, i) result(g)
    integer, intent(in) :: k, j, i
    real(wp) :: g(3, 3)
    g(1, 1) = (u(k, j, i + 1) - u(k, j, i))/dx
    g(2, 2) = (v(k, j + 1, i) - v(k, j, i))/dy
    g(3, 3) = (w(k, j, i) - w(k - 1, j, i))/dz
    g(1, 2) = (sum(u(k, j + 1, i:i + 1)) - sum(u(k, j - 1, i:i + 1)))/(4*dy)
    g(1, 3) = (sum(u(k + 1, j, i:i + 1)) - sum(u(k - 1, j, i:i + 1)))/(4*dz)
    g(2, 1) = (sum(v(k, j:j + 1, i + 1)) - sum(v(k, j:j + 1, i - 1)))/(4*dx)
    g(2, 3) = (sum(v(k + 1, j:j + 1, i)) - sum(v(k - 1, j:j + 1, i)))/(4*dz)
    g(3, 1) = (sum(w(k - 1:k, j, i + 1)) - sum(w(k - 1:k, j, i - 1)))/(4*dx)
    g(3, 2) = (sum(w(k - 1:k, j + 1, i)) - sum(w(k - 1:k, j - 1, i)))/(4*dy)
  end function

end module les_closure

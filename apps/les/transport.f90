!> Advection and diffusion of one quantity, as differences of fluxes: all that leaves a cell enters its neighbour. The
!> advection is Wicker and Skamarock's of fifth order. In z near the walls it is of second order.
module les_transport
  use les_grid
  use les_control, only: nz, dx, dy, dz
  implicit none
  private
  public :: transport, mean_x, mean_y, mean_z

contains

  !> The tendency of s at levels 1 to top. cx, cy, cz (k, j, i): velocity through the face between s(k, j, i) and the
  !> neighbour before it in x, y, z. viscosity: at the points of s. The walls let no flux through.
  subroutine transport(tendency, s, cx, cy, cz, viscosity, top)
    real(wp), dimension(0:, nys - halo:, nxl - halo:), intent(in) :: s, cx, cy, cz, viscosity
    real(wp), intent(out) :: tendency(0:, nys:, nxl:)
    integer, intent(in) :: top
    real(wp) :: flux(1:nz + 1, nys:nyn + 1, nxl:nxr + 1)
    integer :: i, j, k
    do i = nxl, nxr + 1
      do j = nys, nyn
        flux(:top, j, i) = fifth(cx(1:top, j, i), s(1:top, j, i - 3), s(1:top, j, i - 2), s(1:top, j, i - 1), &
                                 s(1:top, j, i), s(1:top, j, i + 1), s(1:top, j, i + 2)) &
                           - gradient(viscosity(1:top, j, i - 1:i), s(1:top, j, i - 1:i), dx)
      end do
    end do
    tendency(1:top, :, :) = (flux(:top, nys:nyn, nxl:nxr) - flux(:top, nys:nyn, nxl + 1:nxr + 1))/dx
    do i = nxl, nxr
      do j = nys, nyn + 1
        flux(:top, j, i) = fifth(cy(1:top, j, i), s(1:top, j - 3, i), s(1:top, j - 2, i), s(1:top, j - 1, i), &
                                 s(1:top, j, i), s(1:top, j + 1, i), s(1:top, j + 2, i)) &
                           - gradient(viscosity(1:top, j - 1:j, i), s(1:top, j - 1:j, i), dy)
      end do
    end do
    tendency(1:top, :, :) = tendency(1:top, :, :) &
                            + (flux(:top, nys:nyn, nxl:nxr) - flux(:top, nys + 1:nyn + 1, nxl:nxr))/dy
    do i = nxl, nxr
      do j = nys, nyn
        do k = 1, top + 1
          if (k > 3 .and. k < top - 1) then
            flux(k, j, i) = fifth(cz(k, j, i), s(k - 3, j, i), s(k - 2, j, i), s(k - 1, j, i), s(k, j, i), s(k + 1, j, i), &
                                  s(k + 2, j, i))
          else
            flux(k, j, i) = cz(k, j, i)*0.5_wp*(s(k - 1, j, i) + s(k, j, i))
          end if
          flux(k, j, i) = flux(k, j, i) - 0.5_wp*(viscosity(k - 1, j, i) + viscosity(k, j, i)) &
                          *(s(k, j, i) - s(k - 1, j, i))/dz
        end do
      end do
    end do
    tendency(1:top, :, :) = tendency(1:top, :, :) &
                            + (flux(1:top, nys:nyn, nxl:nxr) - flux(2:top + 1, nys:nyn, nxl:nxr))/dz
  end subroutine

  ! The flux between the third and the fourth of six successive values.
  elemental real(wp) function fifth(velocity, a, b, c, d, e, f)
    real(wp), intent(in) :: velocity, a, b, c, d, e, f
    fifth = (velocity*(37*(c + d) - 8*(b + e) + (a + f)) - abs(velocity)*(10*(d - c) - 5*(e - b) + (f - a)))/60
  end function

  pure function gradient(viscosity, s, distance)
    real(wp), intent(in) :: viscosity(:, :), s(:, :), distance
    real(wp) :: gradient(size(s, 1))
    gradient = 0.5_wp*(viscosity(:, 1) + viscosity(:, 2))*(s(:, 2) - s(:, 1))/distance
  end function

  !> Means of each value and the value before it. The first value stays.
  pure function mean_x(a) result(mean)
    real(wp), intent(in) :: a(:, :, :)
    real(wp) :: mean(size(a, 1), size(a, 2), size(a, 3))
    mean(:, :, 1) = a(:, :, 1)
    mean(:, :, 2:) = 0.5_wp*(a(:, :, 2:) + a(:, :, :size(a, 3) - 1))
  end function

  pure function mean_y(a) result(mean)
    real(wp), intent(in) :: a(:, :, :)
    real(wp) :: mean(size(a, 1), size(a, 2), size(a, 3))
    mean(:, 1, :) = a(:, 1, :)
    mean(:, 2:, :) = 0.5_wp*(a(:, 2:, :) + a(:, :size(a, 2) - 1, :))
  end function

  !> Means of each value and the value above it. The top value stays.
  pure function mean_z(a) result(mean)
    real(wp), intent(in) :: a(:, :, :)
    real(wp) :: mean(size(a, 1), size(a, 2), size(a, 3))
    integer :: top
    top = size(a, 1)
    mean(top, :, :) = a(top, :, :)
    mean(:top - 1, :, :) = 0.5_wp*(a(:top - 1, :, :) + a(2:, :, :))
  end function

end module les_transport

!> Horizontal means, variances and fluxes at every level, at the height of the cells' centres.
module les_moments
  use mpi_f08
  use les_grid
  use les_control, only: nx, ny, nz, dz, prandtl
  use les_fields
  use les_closure, only: dissipation
  implicit none
  private

  !> Means; squares and products of deviations from the means; fluxes of the closure ('_s': subgrid).
  character(len=*), parameter, public :: profile_names(24) = [character(len=12) :: 'u', 'v', 'w', 'theta', 'q', 'p', 'km', &
    'u2', 'v2', 'w2', 'theta2', 'q2', 'wu', 'wv', 'wtheta', 'wq', 'wu_s', 'wv_s', 'wtheta_s', 'wq_s', 'w3', 'energy', &
    'dissipation', 'thetaq']
  real(wp), allocatable, target, public :: profiles(:, :)      ! (0:nz+1, profile_names), last step
  real(wp), allocatable, target, public :: profile_sums(:, :)  ! sums over the window

  public :: moments_allocate, moments_update

contains

  subroutine moments_allocate()
    allocate (profiles(0:nz + 1, size(profile_names)), source=0._wp)
    allocate (profile_sums, source=profiles)
  end subroutine

  subroutine moments_update()
    integer :: k, x, y
    x = nxr
    y = nyn
    profiles = 0
    do k = 1, nz
      profiles(k, 1) = 0.5_wp*(sum(u(k, nys:y, nxl:x)) + sum(u(k, nys:y, nxl + 1:x + 1)))
      profiles(k, 2) = 0.5_wp*(sum(v(k, nys:y, nxl:x)) + sum(v(k, nys + 1:y + 1, nxl:x)))
      profiles(k, 3) = 0.5_wp*(sum(w(k - 1:k, nys:y, nxl:x)))
      profiles(k, 4) = sum(theta(k, nys:y, nxl:x))
      profiles(k, 5) = sum(q(k, nys:y, nxl:x))
      profiles(k, 6) = sum(p(k, nys:y, nxl:x))
      profiles(k, 7) = sum(km(k, nys:y, nxl:x))
      if (allocated(dissipation)) profiles(k, 23) = sum(dissipation(k, :, :))
    end do
    call sum_up(profiles(:, :7))
    call sum_up(profiles(:, 23:23))
    do k = 1, nz
      call products(k)
    end do
    call sum_up(profiles(:, 8:22))
    call sum_up(profiles(:, 24:24))
  end subroutine

  subroutine products(k)
    integer, intent(in) :: k
    real(wp), dimension(nys:nyn, nxl:nxr) :: a, b, c, t, s, viscosity
    a = 0.5_wp*(u(k, nys:nyn, nxl:nxr) + u(k, nys:nyn, nxl + 1:nxr + 1)) - profiles(k, 1)
    b = 0.5_wp*(v(k, nys:nyn, nxl:nxr) + v(k, nys + 1:nyn + 1, nxl:nxr)) - profiles(k, 2)
    c = 0.5_wp*(w(k, nys:nyn, nxl:nxr) + w(k - 1, nys:nyn, nxl:nxr)) - profiles(k, 3)
    t = theta(k, nys:nyn, nxl:nxr) - profiles(k, 4)
    s = q(k, nys:nyn, nxl:nxr) - profiles(k, 5)
    viscosity = km(k, nys:nyn, nxl:nxr)
    profiles(k, 8:12) = [sum(a**2), sum(b**2), sum(c**2), sum(t**2), sum(s**2)]
    profiles(k, 13:16) = [sum(c*a), sum(c*b), sum(c*t), sum(c*s)]
    profiles(k, 17) = -sum(viscosity*slope(u))
    profiles(k, 18) = -sum(viscosity*slope(v))
    profiles(k, 19) = -sum(viscosity*slope(theta))/prandtl
    profiles(k, 20) = -sum(viscosity*slope(q))/prandtl
    profiles(k, 21) = sum(c**3)
    profiles(k, 22) = 0.5_wp*sum(profiles(k, 8:10))
    profiles(k, 24) = sum(t*s)

  contains

    pure function slope(f)
      real(wp), intent(in) :: f(0:, nys - halo:, nxl - halo:)
      real(wp) :: slope(nys:nyn, nxl:nxr)
      slope = (f(k + 1, nys:nyn, nxl:nxr) - f(k - 1, nys:nyn, nxl:nxr))/(2*dz)
    end function
  end subroutine

  ! Turns each rank's sums into means over all points.
  subroutine sum_up(a)
    real(wp), contiguous, intent(inout) :: a(:, :)
    call MPI_Allreduce(MPI_IN_PLACE, a, size(a), MPI_DOUBLE_PRECISION, MPI_SUM, comm)
    a = a/(real(nx, wp)*ny)
  end subroutine

end module les_moments

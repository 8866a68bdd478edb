!> Median, quartiles and ratios of repeated measurements. Pure arithmetic.
module palm_statistics
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: at_fraction, median

contains

  pure real(real64) function median(samples)
    real(real64), intent(in) :: samples(:)
    median = at_fraction(samples, 0.5_real64)
  end function

  !> Between two samples in proportion, as numpy's default does.
  pure real(real64) function at_fraction(samples, fraction)
    real(real64), intent(in) :: samples(:), fraction
    real(real64) :: sorted(size(samples)), place
    integer :: below, above
    sorted = ascending(samples)
    place = fraction*(size(samples) - 1) + 1
    below = int(place)
    above = min(below + 1, size(samples))
    at_fraction = sorted(below) + (place - below)*(sorted(above) - sorted(below))
  end function

  pure function ascending(samples) result(sorted)
    real(real64), intent(in) :: samples(:)
    real(real64) :: sorted(size(samples)), sample
    integer :: i, j
    sorted = samples
    do i = 2, size(sorted)
      sample = sorted(i)
      do j = i - 1, 1, -1
        if (sorted(j) <= sample) exit
        sorted(j + 1) = sorted(j)
      end do
      sorted(j + 1) = sample
    end do
  end function

end module palm_statistics

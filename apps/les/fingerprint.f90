!> A number of 64 bits for an array's bits, the same on any ranks. It is a sum modulo a prime: each element's bits times
!> a number made of its global place. A changed bit changes it, and so do two elements in swapped places.
module les_fingerprint
  use, intrinsic :: iso_fortran_env, only: int64
  use les_grid, only: wp
  implicit none
  private

  integer(int64), parameter :: prime = 2147483647_int64
  public :: fingerprint_add, fingerprint_fold, fingerprint_text

contains

  !> sums: two numbers below the prime, 0 at first. bits: the element's. place: its index in the global array, from 0.
  pure subroutine fingerprint_add(sums, bits, place)
    integer(int64), intent(inout) :: sums(2)
    integer(int64), intent(in) :: bits, place
    integer(int64), parameter :: low = int(z'3FFFFF', int64), by(3, 2) = reshape( &
      [1181783497_int64, 1276050271_int64, 2012340511_int64, 1811960957_int64, 1523418079_int64, 1043618065_int64], [3, 2])
    integer(int64) :: value, key
    integer :: n
    do n = 1, 2
      ! With 22 bits a piece, no product exceeds 63 bits.
      value = mod(iand(bits, low)*by(1, n), prime) + mod(iand(ishft(bits, -22), low)*by(2, n), prime) &
              + mod(ishft(bits, -44)*by(3, n), prime) + 1
      key = mod(mod(place, prime)*by(n, n), prime) + 1
      sums(n) = mod(sums(n) + mod(mod(value, prime)*mod(key*key, prime), prime), prime)
    end do
  end subroutine

  !> Adds the fingerprint `part` to `all`. `number` is its place in the order.
  pure subroutine fingerprint_fold(all, part, number)
    integer(int64), intent(inout) :: all(2)
    integer(int64), intent(in) :: part(2), number
    call fingerprint_add(all, part(1), 2*number)
    call fingerprint_add(all, part(2), 2*number + 1)
  end subroutine

  pure function fingerprint_text(sums) result(text)
    integer(int64), intent(in) :: sums(2)
    character(len=16) :: text
    write (text, '(z8.8,z8.8)') mod(sums, prime)
  end function

end module les_fingerprint

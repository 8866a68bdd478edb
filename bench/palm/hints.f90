!> The hints that every way over MPI-IO opens its file with: MPI-IO itself, HDF5 and netCDF.
module palm_hints
  use mpi_f08
  use palm_system, only: fail
  implicit none
  private
  public :: file_hints, make_hints

  type(MPI_Info), protected :: file_hints

contains

  !> From "key=value,key=value". "": each rank writes its own rows, which are long enough; collecting them first, by one
  !> rank or by all, copies them once more through MPI and was slower on one node, with ROMIO and with OMPIO.
  subroutine make_hints(text)
    character(len=*), intent(in) :: text
    character(len=1024) :: left
    integer :: comma, equals
    call MPI_Info_create(file_hints)
    left = text
    if (text == '') left = 'romio_cb_write=disable,romio_cb_read=disable,romio_ds_write=disable,romio_ds_read=disable'
    do while (left /= '')
      comma = index(trim(left)//',', ',')
      equals = index(left(:comma - 1), '=')
      if (equals < 2) call fail('--hints takes key=value,..., not '//trim(text)//'.')
      call MPI_Info_set(file_hints, left(:equals - 1), left(equals + 1:comma - 1))
      left = left(comma + 1:)
    end do
  end subroutine

end module palm_hints

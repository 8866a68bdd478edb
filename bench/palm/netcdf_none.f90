!> In place of netcdf_writer.f90 where there is no parallel netCDF-4.
module palm_netcdf
  use palm_stream, only: stream_writer
  implicit none
  private
  public :: netcdf_writer, make_netcdf_writer

  type, extends(stream_writer) :: netcdf_writer
  end type

contains

  subroutine make_netcdf_writer(new_writer)
    type(netcdf_writer), intent(out) :: new_writer
    new_writer%name = 'netcdf'
    new_writer%left_out = 'no parallel netCDF 4.9 was found when this was built; Debian: libnetcdf-mpi-dev'
  end subroutine

end module palm_netcdf

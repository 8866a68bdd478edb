! Writes restart files of the format fortran_binary by docs/formats/palm.md, one for each of 6 processes:
! write_palm_fortran DIRECTORY
!
! The parts are uneven: x 0-3, 4-8; y 0-1, 2-2, 3-7. GFORTRAN_CONVERT_UNIT sets the byte order.
program write_palm_fortran
    use, intrinsic :: iso_fortran_env, only: int32, int64, real64
    implicit none
    integer(int32), parameter :: ghosts = 3, nzb = 0, nzt = 4, soil_levels = 2, processes = 6
    integer(int32), parameter :: x_first(2) = [0, 4], x_last(2) = [3, 8]
    integer(int32), parameter :: y_first(3) = [0, 2, 3], y_last(3) = [1, 2, 7]
    integer(int32) :: bounds(4, 0:processes - 1), process, column, row, unit
    character(len=1024) :: directory, path

    call get_command_argument(1, directory)
    do process = 0, processes - 1
        column = merge(1, 2, process < 3)
        row = 1 + mod(process, 3)
        bounds(:, process) = [x_first(column), x_last(column), y_first(row), y_last(row)]
    end do
    do process = 0, processes - 1
        write (path, '(a,a,i6.6)') trim(directory), '/_', process
        open (newunit=unit, file=path, form='unformatted', access='sequential', status='replace', action='write')
        if (process == 0) call write_global()
        call write_local(bounds(1, process), bounds(2, process), bounds(3, process), bounds(4, process))
        close (unit)
    end do

contains

    subroutine write_name(name)
        character(len=*), intent(in) :: name
        write (unit) len_trim(name)
        write (unit) name
    end subroutine write_name

    subroutine write_global()
        integer :: k
        call write_name('binary_version_global')
        write (unit) '22.04'
        call write_name('numprocs')
        write (unit) processes
        call write_name('hor_index_bounds')
        write (unit) bounds
        call write_name('nz')
        write (unit) nzt
        call write_name('bc_lr')
        write (unit) 'cyclic              '
        call write_name('current_timestep_number')
        write (unit) 77_int32
        call write_name('simulated_time')
        write (unit) 1234.5_real64
        call write_name('u_init')
        write (unit) (0.25_real64 * k, k = nzb, nzt + 1)
        ! Repeated names: the last counts.
        call write_name('passive_scalar')
        write (unit) .true.
        call write_name('passive_scalar')
        write (unit) .true.
        call write_name('time_radiation')
        write (unit) 1.5_real64
        call write_name('time_radiation')
        write (unit) 2.5_real64
        call write_name('q_init')
        write (unit) 808402640_int64, (0_int64, k = nzb + 1, nzt + 1)
        call write_name('nothing')
        write (unit) ''
    end subroutine write_global

    subroutine write_local(nxl, nxr, nys, nyn)
        integer(int32), intent(in) :: nxl, nxr, nys, nyn
        real(real64) :: field(nzb:nzt + 1, nys - ghosts:nyn + ghosts, nxl - ghosts:nxr + ghosts)
        real(real64) :: plane(nys - ghosts:nyn + ghosts, nxl - ghosts:nxr + ghosts)
        real(real64) :: soil(0:soil_levels - 1, nys - ghosts:nyn + ghosts, nxl - ghosts:nxr + ghosts)
        integer(int32) :: flags(nzb:nzt + 1, nys - ghosts:nyn + ghosts, nxl - ghosts:nxr + ghosts)
        integer(int32) :: start_index(nys:nyn, nxl:nxr)
        integer :: i, j, k
        do i = nxl - ghosts, nxr + ghosts
            do j = nys - ghosts, nyn + ghosts
                do k = nzb, nzt + 1
                    field(k, j, i) = 1000.0_real64 + i + j / 100.0_real64 + k / 10000.0_real64
                    flags(k, j, i) = 10000 * k + 100 * j + i
                end do
                do k = 0, soil_levels - 1
                    soil(k, j, i) = 280.5_real64 + i + j / 100.0_real64 + k / 10000.0_real64
                end do
                plane(j, i) = 3000.0_real64 + i + j / 100.0_real64
            end do
        end do
        do i = nxl, nxr
            do j = nys, nyn
                start_index(j, i) = 100 * j + i
            end do
        end do
        call write_name('binary_version_local')
        write (unit) '22.04'
        write (unit) processes, process, nxl, nxr, nys, nyn, nzb, nzt
        ! Repeated below, and different on only one process.
        call write_name('e')
        write (unit) field + merge(1, 0, process == 3)
        call write_name('zs')
        write (unit) plane
        call write_name('t_soil_av')
        write (unit) soil
        call write_name('wall_flags')
        write (unit) flags
        ! Two records each.
        call write_name('random_iv')
        write (unit) (process + k, k = 1, 40)
        write (unit) -process
        call write_name('seq_random_array')
        write (unit) -start_index
        write (unit) (((10 * start_index(j, i) + k, k = 1, 5), j = nys, nyn), i = nxl, nxr)
        call write_name('e')
        write (unit) field
        call write_name('surf%start_index')
        write (unit) start_index
        ! Process n has n surface values, so process 0 has none.
        if (process > 0) then
            call write_name('surf%us')
            write (unit) (100.0_real64 * process + k, k = 1, process)
        end if
        call write_name('ns_on_file')
        write (unit) process, 0, 1
        call write_name('mine')
        write (unit) 0.5_real64
        call write_name('*** end ***')
    end subroutine write_local

end program write_palm_fortran

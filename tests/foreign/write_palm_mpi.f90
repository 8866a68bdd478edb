! Writes a restart file of the MPI-IO format by docs/formats/palm.md: write_palm_mpi FILE GHOSTS full|plain
!
! Fields are stored with GHOSTS outer layers. "full" writes all arrays; "plain" leaves out arrays with a type that only
! their bytes show. GFORTRAN_CONVERT_UNIT sets the byte order.
program write_palm_mpi
    use, intrinsic :: iso_fortran_env, only: int32, int64, real64
    implicit none
    integer(int32), parameter :: nx = 6, ny = 4, nz = 5, soil_levels = 3
    integer(int32), parameter :: max_ints = 256, max_chars = 128, max_reals = 256, max_arrays = 600
    integer(int64), parameter :: first_array = 131072

    integer(int32) :: unit, ghosts, total_nx, total_ny
    integer(int32) :: nr_arrays = 0, nr_char = 0, nr_int = 0, nr_real = 0
    integer(int64) :: offset = first_array
    character(len=32) :: int_names(max_ints) = '', real_names(max_reals) = '', array_names(max_arrays) = ''
    character(len=128) :: text_lines(max_chars) = ''
    integer(int32) :: int_values(max_ints) = 0
    real(real64) :: real_values(max_reals) = 0
    integer(int64) :: array_offset(max_arrays) = 0
    character(len=1024) :: path, word

    call get_command_argument(1, path)
    call get_command_argument(2, word)
    read (word, *) ghosts
    call get_command_argument(3, word)
    total_nx = nx + 1 + 2 * ghosts
    total_ny = ny + 1 + 2 * ghosts
    open (newunit=unit, file=path, access='stream', form='unformatted', status='replace', action='write')

    call add_int('nx', nx)
    call add_int('ny', ny)
    call add_int('nz', nz)
    call add_int('current_timestep_number', 360)
    call add_int('humidity', 1)
    call add_char('binary_version', '5.4')
    call add_char('bc_lr', 'dirichlet/radiation')
    call add_char('empty', '')
    call add_real('simulated_time', 3600.5_real64)
    call add_real('dt_3d', 0.125_real64)

    call add_3d('u', 1000.0_real64)
    call add_3d('v', 2000.0_real64)
    call add_2d('zs', 3000.0_real64)
    call add_soil('t_soil_av')
    call add_int_2d('nzb_max')
    call add_int_3d('flags')
    call add_global('u_init', nz + 2)
    if (word == 'full') then
        ! Repeated names: PALM reads the first.
        call add_int('nz', nz)
        call add_real('dt_3d', 0.25_real64)
        call add_3d('v', 2000.5_real64)
        call add_index('global_start_index', 'global_end_index')
        call add_surface('surf%ts', 1)
        call add_surface('surf%css', 2)
        call add_like_surface('m_soil')
        call add_uninitialized('q_init')
    end if
    call add_global('weights', 3)
    call write_header()
    close (unit)

contains

    subroutine add_int(name, value)
        character(len=*), intent(in) :: name
        integer(int32), intent(in) :: value
        nr_int = nr_int + 1
        int_names(nr_int) = name
        int_values(nr_int) = value
    end subroutine add_int

    subroutine add_char(name, value)
        character(len=*), intent(in) :: name, value
        nr_char = nr_char + 1
        text_lines(nr_char)(1:32) = name
        text_lines(nr_char)(33:) = value
    end subroutine add_char

    subroutine add_real(name, value)
        character(len=*), intent(in) :: name
        real(real64), intent(in) :: value
        nr_real = nr_real + 1
        real_names(nr_real) = name
        real_values(nr_real) = value
    end subroutine add_real

    subroutine add_array(name, bytes)
        character(len=*), intent(in) :: name
        integer(int64), intent(in) :: bytes
        nr_arrays = nr_arrays + 1
        array_names(nr_arrays) = name
        array_offset(nr_arrays) = offset
        offset = offset + bytes
    end subroutine add_array

    ! z is fastest, then x, then y. Values encode their positions: base + x + y / 100 + z / 10000.
    subroutine add_3d(name, base)
        character(len=*), intent(in) :: name
        real(real64), intent(in) :: base
        integer :: i, j, k
        write (unit, pos=offset + 1) (((place(base, i, j, k), k = 0, nz + 1), i = -ghosts, nx + ghosts), &
            j = -ghosts, ny + ghosts)
        call add_array(name, 8_int64 * (nz + 2) * total_nx * total_ny)
    end subroutine add_3d

    subroutine add_2d(name, base)
        character(len=*), intent(in) :: name
        real(real64), intent(in) :: base
        integer :: i, j
        write (unit, pos=offset + 1) ((place(base, i, j, 0), i = -ghosts, nx + ghosts), j = -ghosts, ny + ghosts)
        call add_array(name, 8_int64 * total_nx * total_ny)
    end subroutine add_2d

    subroutine add_soil(name)
        character(len=*), intent(in) :: name
        integer :: i, j, k
        write (unit, pos=offset + 1) (((place(280.5_real64, i, j, k), k = 0, soil_levels - 1), i = -ghosts, nx + ghosts), &
            j = -ghosts, ny + ghosts)
        call add_array(name, 8_int64 * soil_levels * total_nx * total_ny)
    end subroutine add_soil

    subroutine add_int_2d(name)
        character(len=*), intent(in) :: name
        integer(int32) :: i, j
        write (unit, pos=offset + 1) ((100 * j + i - 7, i = 0, nx), j = 0, ny)
        call add_array(name, 4_int64 * (nx + 1) * (ny + 1))
    end subroutine add_int_2d

    subroutine add_int_3d(name)
        character(len=*), intent(in) :: name
        integer(int32) :: i, j, k
        write (unit, pos=offset + 1) (((10000 * k + 100 * j + i, k = 0, nz + 1), i = -ghosts, nx + ghosts), &
            j = -ghosts, ny + ghosts)
        call add_array(name, 4_int64 * (nz + 2) * total_nx * total_ny)
    end subroutine add_int_3d

    subroutine add_global(name, elements)
        character(len=*), intent(in) :: name
        integer(int32), intent(in) :: elements
        integer :: k
        write (unit, pos=offset + 1) (0.5_real64 * k, k = 1, elements)
        call add_array(name, 8_int64 * elements)
    end subroutine add_global

    ! Column (j, i) has mod(i + j, 3) surfaces, and a further element with their number.
    pure integer function elements_of(j, i)
        integer, intent(in) :: j, i
        elements_of = mod(i + j, 3) + 1
    end function elements_of

    ! The begin and end of the elements of each column (x outside, y inside), as planes with x fastest.
    subroutine add_index(start_name, end_name)
        character(len=*), intent(in) :: start_name, end_name
        integer(int64) :: first(0:nx, 0:ny), last(0:nx, 0:ny), next
        integer :: i, j
        next = 1
        do i = 0, nx
            do j = 0, ny
                first(i, j) = next
                next = next + elements_of(j, i)
                last(i, j) = next - 1
            end do
        end do
        write (unit, pos=offset + 1) first
        call add_array(start_name, 8_int64 * (nx + 1) * (ny + 1))
        write (unit, pos=offset + 1) last
        call add_array(end_name, 8_int64 * (nx + 1) * (ny + 1))
    end subroutine add_index

    ! Each run starts again at the first column: the number of its elements, this one included, then values.
    subroutine add_surface(name, runs)
        character(len=*), intent(in) :: name
        integer, intent(in) :: runs
        integer :: i, j, n, run
        integer(int64) :: elements
        elements = 0
        do run = 1, runs
            do i = 0, nx
                do j = 0, ny
                    write (unit, pos=offset + 1 + 8 * elements) real(elements_of(j, i), real64), &
                        (1000 * run + 100 * j + i + 0.25_real64 * n, n = 1, elements_of(j, i) - 1)
                    elements = elements + elements_of(j, i)
                end do
            end do
        end do
        call add_array(name, 8 * elements)
    end subroutine add_surface

    ! An array as long as surface data that is not surface data: its element counts are wrong.
    subroutine add_like_surface(name)
        character(len=*), intent(in) :: name
        integer :: i, j, elements
        elements = sum([((elements_of(j, i), i = 0, nx), j = 0, ny)])
        write (unit, pos=offset + 1) (1.5_real64, i = 1, elements)
        call add_array(name, 8_int64 * elements)
    end subroutine add_like_surface

    ! A profile in uninitialised memory: an address, then zeros.
    subroutine add_uninitialized(name)
        character(len=*), intent(in) :: name
        integer(int64) :: words(nz + 2)
        words = 0
        words(1) = 808402640_int64
        words(2) = int(z'00007f0ce3a01b60', int64)
        write (unit, pos=offset + 1) words
        call add_array(name, 8_int64 * (nz + 2))
    end subroutine add_uninitialized

    pure function place(base, i, j, k) result(value)
        real(real64), intent(in) :: base
        integer, intent(in) :: i, j, k
        real(real64) :: value
        value = base + i + j / 100.0_real64 + k / 10000.0_real64
    end function place

    subroutine write_header()
        integer(int32) :: endian
        call get_environment_variable('GFORTRAN_CONVERT_UNIT', word)
        endian = merge(2, 1, word == 'big_endian')
        write (unit, pos=1) endian, merge(1, 0, ghosts > 0), nr_arrays, nr_char, nr_int, nr_real, 2, 1, total_nx, total_ny
        write (unit, pos=41) int_names
        write (unit, pos=8233) int_values
        write (unit, pos=9257) text_lines
        write (unit, pos=25641) real_names
        write (unit, pos=33833) real_values
        write (unit, pos=35881) array_names
        write (unit, pos=55081) array_offset
    end subroutine write_header

end program write_palm_mpi

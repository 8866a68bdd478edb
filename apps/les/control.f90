!> The user's settings: the namelist &les of the parameter file. Units are SI. A restart takes the physics from the
!> snapshot, but the settings of the run (the first three lines) from the file.
module les_control
  use les_grid, only: wp, give_up
  implicit none
  public

  character(len=512) :: run = ''                    ! Forebay's run directory; '': nothing is saved
  character(len=512) :: staging = '', config = ''   ! Forebay's staging directory and configuration file; '': defaults
  integer :: ranks_x = 0, ranks_y = 0, end_step = 100, save_every = 0

  character(len=32), target :: title = 'boundary layer'
  character(len=32), target :: start = 'layer'   ! 'layer': geostrophic wind; 'taylor-green': vortices on it;
                                                ! 'rolls': rolls on it in x, z; 'rest': no wind, other temperatures
  character(len=32), target :: wall = 'rough'    ! the surface: 'rough' or 'slip'
  integer, target :: nx = 40, ny = 24, nz = 20
  integer, target :: window_steps = 10           ! steps of an averaging window
  integer, target :: seed = 1                    ! seed of the first perturbations
  logical, target :: adaptive_dt = .true.        ! .false.: dt is dt_max
  logical, target :: buoyant = .true.
  logical, target :: interactive_surface = .true. ! heating warms the surface, its heat flux cools it
  logical, target :: damped = .true.             ! damps waves above damping_height
  real(wp), target :: dx = 50, dy = 50, dz = 25
  real(wp), target :: dt_max = 5, cfl_max = 0.8_wp
  real(wp), target :: u_geostrophic = 5, v_geostrophic = -1, coriolis = 1e-4_wp
  real(wp), target :: gravity = 9.81_wp, theta_surface = 300, theta_gradient = 0.003_wp
  real(wp), target :: inversion_height = 300, inversion_jump = 2  ! the jump covers three levels
  real(wp), target :: smagorinsky = 0.15_wp, prandtl = 0.7_wp, km_background = 1e-3_wp
  real(wp), target :: roughness = 0.1_wp, roughness_contrast = 0.5_wp ! contrast: of a pattern in x and y
  real(wp), target :: heating = 0.1_wp, heating_contrast = 0.5_wp     ! kinematic, K m/s
  real(wp), target :: tracer_surface = 0.01_wp   ! a passive tracer's value at the surface
  real(wp), target :: surface_depth = 5          ! heat capacity of the surface, in metres of air
  real(wp), target :: damping_height = 400, damping_rate = 0.01_wp
  real(wp), target :: subsidence = 0             ! at the top, m/s downwards
  real(wp), target :: perturbation = 0.5_wp      ! of temperature ('layer': noise below, 'rest': curve in z), of wind
  real(wp), target :: divergence_tolerance = 1e-8_wp  ! rms, 1/s

  namelist /les/ run, staging, config, ranks_x, ranks_y, end_step, save_every, title, start, wall, nx, ny, nz, &
    window_steps, seed, adaptive_dt, buoyant, interactive_surface, damped, dx, dy, dz, dt_max, cfl_max, u_geostrophic, &
    v_geostrophic, coriolis, gravity, theta_surface, theta_gradient, inversion_height, inversion_jump, smagorinsky, &
    prandtl, km_background, roughness, roughness_contrast, heating, heating_contrast, tracer_surface, surface_depth, &
    damping_height, damping_rate, subsidence, perturbation, divergence_tolerance

contains

  subroutine control_read(path)
    character(len=*), intent(in) :: path
    character(len=256) :: text
    integer :: unit, stat
    if (path == '') call give_up('no parameter file is given', 'les --help tells what it holds')
    open (newunit=unit, file=path, status='old', action='read', iostat=stat, iomsg=text)
    if (stat /= 0) call give_up(trim(path)//' cannot be read: '//trim(text), 'give the path of a parameter file')
    read (unit, nml=les, iostat=stat, iomsg=text)
    if (stat /= 0) call give_up(trim(path)//': '//trim(text), 'the names of &les are those of les --help')
    close (unit)
    if (nz < 8 .or. min(nx, ny) < 6) call give_up('the grid is too small', 'at least 6 x 6 points and 8 levels')
    if (subsidence < 0) call give_up('subsidence is less than 0', 'it is a speed downwards')
    if (window_steps < 1) call give_up('window_steps is less than 1', 'give the steps of an averaging window')
    if (all(start /= [character(len=32) :: 'layer', 'taylor-green', 'rolls', 'rest'])) &
      call give_up("start = '"//trim(start)//"' is unknown", "'layer', 'taylor-green', 'rolls' or 'rest'")
    if (all(wall /= [character(len=32) :: 'rough', 'slip'])) &
      call give_up("wall = '"//trim(wall)//"' is unknown", "'rough' or 'slip'")
  end subroutine

  !> Prints all parameters with their defaults, in the form of a parameter file.
  subroutine control_help()
    character(len=1024) :: text(64)
    integer :: n, last
    print '(a)', 'Usage: mpiexec -n RANKS les PARAMETERS', '', &
      'A large-eddy simulation that saves and restarts through Forebay. PARAMETERS is a file with the namelist &les;', &
      'every name may be left out. These are all, with their defaults; apps/les/control.f90 tells what they mean.', ''
    text = ''
    write (text, nml=les)
    do n = 1, size(text)
      ! Fortran fills texts with blanks: cut them.
      last = index(text(n), '"', back=.true.)
      if (last > 0) text(n) = trim(text(n) (:last - 1))//text(n) (last:)
      if (text(n) /= '') print '(a)', trim(text(n))
    end do
  end subroutine

end module les_control

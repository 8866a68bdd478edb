!> Forebay for Fortran: save the state of a simulation at the price of one memory copy, restart it on any ranks.
!>
!> Order of calls:
!>   session%open -> session%stream -> replicated | array | particles -> [newest -> read] -> { bind -> save } ... ->
!>   session%close
!>
!> Ranks:  open, stream, prepare, save, newest, older, read, wait_committed, job and close are made by every rank, in the
!>         same order; all others are local.
!> Errors: as ALLOCATE does it: with STAT= a call returns fb_ok or the kind of its error, and ERRMSG= holds the text;
!>         without STAT= an error ends the program with the text. Nothing else prints or stops.
!> Memory: data are given by fb_at(data), which tells address, type, rank, extents and strides; nothing is copied. They
!>         must stay there until the save or the read that uses them returns: call rebind() when they have moved.
!> Order:  shapes, starts and halos are Fortran's, first dimension fastest; readers in C order see them reversed.
module forebay
  use, intrinsic :: iso_c_binding
  use, intrinsic :: ieee_arithmetic, only: ieee_positive_inf, ieee_value
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  implicit none
  private

  public :: fb_job, fb_session, fb_stream, fb_particles, fb_restart, fb_saved, fb_counters, fb_column, fb_place, fb_at
  public :: fb_dedicate, fb_bind_rows, fb_error_bytes, fb_version, fb_name_of

  integer, parameter :: fb_error_bytes = 2048

  !> Kinds of errors: what should I do now?
  integer, parameter, public :: fb_ok = 0, fb_retry = 1, fb_full = 2, fb_missing = 3, fb_corrupt = 4, fb_refused = 5, &
                                fb_unsupported = 6, fb_broken = 7
  !> What a save does when every slot still holds a snapshot that is not committed.
  integer, parameter, public :: fb_wait = 0, fb_wait_at_most = 1, fb_skip = 2, fb_newest_only = 3
  !> Types of table columns; a character column of length n is fb_string(n).
  integer(c_int32_t), parameter, public :: fb_f32 = 2 + 4*256, fb_f64 = 3 + 8*256, fb_c64 = 4 + 8*256, &
    fb_c128 = 5 + 16*256, fb_i8 = 6 + 256, fb_i16 = 7 + 2*256, fb_i32 = 8 + 4*256, fb_i64 = 9 + 8*256
  public :: fb_string

  !> What one save did. Equal on all ranks but for bytes and seconds.
  type, bind(C) :: fb_saved
    integer(c_int64_t) :: step = 0
    integer(c_int) :: kept = 0               !< 0: the policy skipped the step
    integer(c_int64_t) :: replaced = -1      !< fb_newest_only: the step that was dropped for this one
    integer(c_int64_t) :: bytes = 0          !< this rank's
    real(c_double) :: blocked_seconds = 0, wait_seconds = 0, plan_seconds = 0, copy_seconds = 0
  end type

  !> Totals since the session was opened.
  type, bind(C) :: fb_counters
    integer(c_int64_t) :: saves = 0, skipped = 0, replaced = 0, commits = 0, aborts = 0
    integer(c_int64_t) :: bytes_saved = 0, bytes_drained = 0, bytes_stored = 0
    real(c_double) :: blocked_seconds = 0, wait_seconds = 0, drain_seconds = 0
    integer(c_int64_t) :: newest_durable_step = -1
    integer(c_int64_t) :: deadlines_missed = 0   !< snapshots of this stream that were not durable by their deadline
    integer(c_int64_t) :: overtakes = 0          !< drains of this node that went before one under way
    integer(c_int64_t) :: limits_overruled = 0   !< drains that kept no slowdown_percent_max, so as to end in time
    integer(c_int64_t) :: steps_counted = 0      !< of the computing, for the next
    real(c_double) :: slowdown_percent = 0       !< of the computing while this node's agent drains; 0 also: not known
    integer(c_int64_t) :: drain_rate_bytes_per_second = 0  !< the limit now; 0: none
  end type

  !> What the ranks agreed on at the end of a step. Equal on all ranks.
  type :: fb_job
    logical :: save = .false.      !< save now
    logical :: stop = .false.      !< save now, then end; save is true too
    real(real64) :: seconds_left   !< of the job; infinite where no limit is known
    character(len=:), allocatable :: reason  !< why, where save is true
  end type

  !> A column of a particle table that is described.
  type :: fb_column
    character(len=:), allocatable :: name
    integer(c_int32_t) :: type = fb_f64
    character(len=:), allocatable :: unit, description
  end type

  !> Where data lie and how: what fb_at() gives.
  type, bind(C) :: fb_place
    private
    type(c_ptr) :: address = c_null_ptr
    integer(c_int64_t) :: element_bytes = 0
    integer(c_int32_t) :: type = 0, rank = 0
    integer(c_int64_t) :: extent(15) = 0, stride_bytes(15) = 0
  end type

  type, bind(C) :: c_error
    character(kind=c_char) :: text(fb_error_bytes)
  end type
  integer, parameter :: reason_bytes = 512
  type, bind(C) :: c_job
    integer(c_int) :: save, stop
    real(c_double) :: seconds_left
    character(kind=c_char) :: reason(reason_bytes)
  end type
  type, bind(C) :: c_attributes
    type(c_ptr) :: unit = c_null_ptr, description = c_null_ptr
    integer(c_size_t) :: dimension_count = 0
    type(c_ptr) :: dimensions = c_null_ptr
    integer(c_size_t) :: other_count = 0
    type(c_ptr) :: others = c_null_ptr
  end type
  type, bind(C) :: c_column
    type(c_ptr) :: name = c_null_ptr
    integer(c_int32_t) :: type = 0
    type(c_ptr) :: attributes = c_null_ptr
  end type
  type, bind(C) :: c_stream_options
    integer(c_int) :: slots, policy
    real(c_double) :: wait_max_seconds
    integer(c_int) :: keep, keep_abandoned, view, priority
    real(c_double) :: deadline_seconds
    integer(c_int64_t) :: rate_bytes_per_second
    integer(c_int) :: nodes_per_file
  end type

  !> One application's use of one run. A handle: it cannot be assigned, and ends what it holds when it goes out of scope.
  type :: fb_session
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: open_alone
    procedure, private :: open_integer
    procedure, private :: open_f08
    !> call session%open([comm,] run [, staging] [, config] [, stat] [, errmsg] [, log])
    !> comm: an integer communicator or type(MPI_Comm), duplicated by the call; without it this process alone.
    !> run: the directory at the target. staging: a node-local directory. config: a TOML file, see
    !> docs/guide/configuration.md, which names no other run; it, then the defaults, say what is left out or blank. A rank that cannot read it is an
    !> error on every rank. log: .true. writes the log to standard error, on rank 0: what was chosen and passed over, and
    !> what a call waits for. Collective.
    generic :: open => open_alone, open_integer, open_f08
    !> call session%stream(name, stream [, slots] [, policy] [, wait_max] [, keep] [, view] [, stat] [, errmsg] [, priority] &
    !>                     [, deadline] [, rate] [, nodes_per_file] [, keep_abandoned]): deadline: in seconds after the
    !> seal; rate: bytes a second, int64; keep_abandoned: of what the run has left by going back.
    !> Without options those of the configuration hold; with any, the defaults hold for the others. Options that differ
    !> between ranks are refused. Collective.
    procedure :: stream => session_stream
    procedure :: draining => session_draining  !< whether this node's agent is draining now
    !> A directory of this node for small files of any program of the job; the agent packs them into few files of the
    !> run. Write under a name that begins with a dot, then rename.
    procedure :: spool => session_spool
    !> call session%job(job [, stop_wanted] [, stat] [, errmsg]): whether to save or to end now, because the job ends,
    !> somebody ran `forebay stop`, or a rank gave stop_wanted=.true. At the end of a step. Collective.
    procedure :: job => session_job
    procedure :: close => session_close        !< waits until all is committed. Collective.
    procedure, private :: session_assign
    generic :: assignment(=) => session_assign
    final :: session_final
  end type

  !> A named sequence of snapshots.
  type :: fb_stream
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    !> call stream%replicated(name, fb_at(value) [, unit] [, description] [, stat] [, errmsg] [, first_rank])
    !> value: equal on every rank, bit for bit, else a save is refused with the ranks and their values; contiguous.
    !> first_rank: .true. where ranks may differ, and rank 0's value is what a restart gives to all that describe it so.
    procedure :: replicated => stream_replicated
    procedure, private :: array_int32
    procedure, private :: array_int64
    !> call stream%array(name, fb_at(data), shape, start [, halo_lo] [, halo_hi] [, unit] [, description] [, dimensions]
    !>                   [, partial] [, stat] [, errmsg])
    !> data: this rank's part with its halos, of rank 1 to 8; may be empty. shape: the global shape.
    !> start: the position of the first owned element (not of the halo) in the global array, from 1. halo_lo, halo_hi:
    !> elements of data around the owned ones; not saved, a restart fills those inside the global shape. dimensions: a
    !> name for each, first dimension first. partial: the boxes of all ranks need not fill the shape. shape, start and halos: default integers, or all of int64.
    generic :: array => array_int32, array_int64
    procedure, private :: rebind_value
    procedure, private :: rebind_int32
    procedure, private :: rebind_int64
    !> call stream%rebind(name, fb_at(value) [, start] [, halo_lo] [, halo_hi] [, stat] [, errmsg] [, shape]): it lies
    !> elsewhere now; start and halos for arrays. Another type than described is refused, as is another shape of a value,
    !> or of an array whose global shape is given.
    generic :: rebind => rebind_value, rebind_int32, rebind_int64
    !> call stream%forget(name [, stat] [, errmsg]): out of the description, on every rank alike.
    procedure :: forget => stream_forget
    !> call stream%particles(name, columns, particles [, stat] [, errmsg]): a table; columns: an array of fb_column.
    procedure :: particles => stream_particles
    procedure :: prepare => stream_prepare     !< lays out and faults in now what the first save would. Collective.
    !> call stream%save(step [, time] [, saved] [, stat] [, errmsg]): all that is described. Collective.
    procedure :: save => stream_save
    !> call stream%wait_committed(seconds [, stat] [, errmsg]). Collective.
    procedure :: wait_committed => stream_wait_committed
    !> call stream%restore([restart] [, bind] [, stat] [, errmsg]): restores the newest snapshot that reads whole; one
    !> that turns out to be damaged is passed over. restart%found() is false when there is none at all: the simulation
    !> begins anew. For tables, bind: a subroutine as fb_bind_rows, called before a snapshot is read. Collective.
    procedure :: restore => stream_restore
    !> call stream%newest(restart [, stat] [, errmsg] [, below]): restart%found() is false when there is none at all.
    !> below: only steps below that one, int64. Collective.
    procedure :: newest => stream_newest
    procedure :: older => stream_older         !< the one before the last given. Collective.
    !> stream%note(number): why a snapshot was passed over by newest() or older(), from number 1 on; '' from the end on.
    procedure :: note => stream_note
    procedure :: counters => stream_counters
    procedure, private :: stream_assign
    generic :: assignment(=) => stream_assign
    final :: stream_final
  end type

  !> A described table.
  type :: fb_particles
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    !> call table%bind(rows, columns [, stat] [, errmsg]): rows: this rank's, int64; columns: [fb_at(id), fb_at(x), ...], of
    !> the types of the description.
    procedure :: bind => particles_bind
    procedure, private :: particles_assign
    generic :: assignment(=) => particles_assign
    final :: particles_final
  end type

  !> The snapshot that newest() chose, before its data are read.
  type :: fb_restart
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: found => restart_found
    procedure :: step => restart_step
    procedure :: time => restart_time
    procedure :: same_ranks => restart_same_ranks  !< whether as many ranks saved it
    procedure :: source => restart_source          !< "staged copy on this node", or the snapshot's directory
    procedure :: rows => restart_rows              !< the rows that this rank gets of a table
    !> call restart%read([stat] [, errmsg]): everything described, into where it lies; all is verified. Collective.
    procedure :: read => restart_read
    !> call restart%read_variable(name [, stat] [, errmsg]): an array or a replicated variable, which may have been
    !> described after newest(). Collective.
    procedure :: read_variable => restart_read_variable
    procedure, private :: restart_assign
    generic :: assignment(=) => restart_assign
    final :: restart_final
  end type

  !> call fb_dedicate(world, comm [, config] [, stat] [, errmsg]): splits agents off where the configuration has agent.mode
  !> "dedicated": the last agent.cores ranks of each machine. The others get comm, to use instead of world, also to open
  !> sessions. An agent stays in this call until the ranks of its machine have called MPI_Finalize, and gets MPI_COMM_NULL:
  !> it goes on to MPI_Finalize. With agent.forwarders the ranks of the last so many hosts do the same, until all that
  !> compute have called it. world, comm: integers or type(MPI_Comm). Once a process. Collective.
  interface fb_dedicate
    procedure :: dedicate_integer, dedicate_f08
  end interface

  abstract interface
    !> Binds each table to restart%rows(table) rows. stat, which is 0 before: another value, and errmsg, end restore() on
    !> every rank.
    subroutine fb_bind_rows(restart, stat, errmsg)
      import :: fb_restart
      type(fb_restart), intent(in) :: restart
      integer, intent(inout) :: stat
      character(len=*), intent(inout) :: errmsg
    end subroutine
  end interface

  ! What the C side hands back to bind_rows().
  type :: t_binder
    procedure(fb_bind_rows), pointer, nopass :: bind => null()
  end type

  include 'forebay_c.inc'

contains

  !> "0.1.0"
  function fb_version() result(text)
    character(len=:), allocatable :: text
    text = text_at(c_version())
  end function

  !> "retry", "full", ...; "ok" for fb_ok
  function fb_name_of(kind) result(text)
    integer, intent(in) :: kind
    character(len=:), allocatable :: text
    text = text_at(c_status_name(int(kind, c_int)))
  end function

  pure integer(c_int32_t) function fb_string(length)
    integer, intent(in) :: length
    fb_string = 14 + int(length, c_int32_t)*256
  end function

  ! ---- errors and texts ----

  subroutine finish(status, error, stat, errmsg)
    integer(c_int), intent(in) :: status
    type(c_error), intent(in), target :: error
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable :: text
    if (status /= fb_ok .and. present(errmsg)) errmsg = text_at(c_loc(error))
    if (present(stat)) then
      stat = int(status)
    else if (status /= fb_ok) then
      text = text_at(c_loc(error))
      error stop text
    end if
  end subroutine

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: bytes(:)
    integer :: i
    call c_f_pointer(address, bytes, [int(c_strlen(address))])
    allocate (character(len=size(bytes)) :: text)
    do i = 1, size(bytes)
      text(i:i) = bytes(i)
    end do
  end function

  pure function c_text(text) result(bytes)
    character(len=*), intent(in), optional :: text
    character(kind=c_char, len=:), allocatable :: bytes
    bytes = c_null_char
    if (present(text)) bytes = trim(text)//c_null_char
  end function

  ! One text with a line for each; "" for none.
  pure function lines(texts) result(bytes)
    character(len=*), intent(in), optional :: texts(:)
    character(kind=c_char, len=:), allocatable :: bytes
    integer :: i
    bytes = ''
    if (present(texts)) then
      do i = 1, size(texts)
        bytes = bytes//trim(texts(i))//new_line('a')
      end do
    end if
    bytes = bytes//c_null_char
  end function

  ! The widths of a halo; one that is not given is none. `fits` becomes false when it has another length.
  subroutine take_halo(given, widths, fits)
    integer(int64), intent(in), optional :: given(:)
    integer(int64), intent(out) :: widths(:)
    logical, intent(inout) :: fits
    widths = 0
    if (.not. present(given)) return
    fits = fits .and. size(given) == size(widths)
    if (fits) widths = given
  end subroutine

  ! Shape, start and halos have a number for each dimension.
  subroutine refuse_lengths(name, stat, errmsg)
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable :: text
    text = "forebay: variable '"//trim(name)//"': shape, start and halos have different lengths."
    if (present(errmsg)) errmsg = text
    if (present(stat)) then
      stat = fb_refused
    else
      error stop text
    end if
  end subroutine

  ! ---- session ----

  subroutine open_alone(self, run, staging, config, stat, errmsg, log)
    class(fb_session), intent(inout) :: self
    character(len=*), intent(in) :: run
    character(len=*), intent(in), optional :: staging, config
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    logical, intent(in), optional :: log
    type(c_ptr) :: options
    type(c_error) :: error
    integer(c_int) :: status
    options = options_for(run, staging, config, log)
    status = c_open(options, self%handle, error)
    call c_options_free(options)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine open_integer(self, comm, run, staging, config, stat, errmsg, log)
    class(fb_session), intent(inout) :: self
    integer, intent(in) :: comm
    character(len=*), intent(in) :: run
    character(len=*), intent(in), optional :: staging, config
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    logical, intent(in), optional :: log
    type(c_ptr) :: options
    type(c_error) :: error
    integer(c_int) :: status
    options = options_for(run, staging, config, log)
    status = c_open_mpi(int(comm, c_int), options, self%handle, error)
    call c_options_free(options)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine open_f08(self, comm, run, staging, config, stat, errmsg, log)
    use mpi_f08, only: MPI_Comm
    class(fb_session), intent(inout) :: self
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: run
    character(len=*), intent(in), optional :: staging, config
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    logical, intent(in), optional :: log
    call open_integer(self, comm%MPI_VAL, run, staging, config, stat, errmsg, log)
  end subroutine

  subroutine dedicate_integer(world, comm, config, stat, errmsg)
    integer, intent(in) :: world
    integer, intent(out) :: comm
    character(len=*), intent(in), optional :: config
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: options
    type(c_error) :: error
    integer(c_int) :: status
    comm = world
    options = options_for('', config=config)
    status = c_dedicate(int(world, c_int), options, comm, error)
    call c_options_free(options)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine dedicate_f08(world, comm, config, stat, errmsg)
    use mpi_f08, only: MPI_Comm
    type(MPI_Comm), intent(in) :: world
    type(MPI_Comm), intent(out) :: comm
    character(len=*), intent(in), optional :: config
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call dedicate_integer(world%MPI_VAL, comm%MPI_VAL, config, stat, errmsg)
  end subroutine

  ! What is wrong with the file is told by the call that gets the options, on every rank.
  type(c_ptr) function options_for(run, staging, config, log) result(options)
    character(len=*), intent(in) :: run
    character(len=*), intent(in), optional :: staging, config
    logical, intent(in), optional :: log
    integer(c_int) :: ignored
    type(c_error) :: error
    options = c_null_ptr
    if (is_given(config)) then
      options = c_options_file(c_text(config))
    else
      ignored = c_options_parse(c_text(), options, error)
    end if
    if (is_given(run)) call c_options_set_run(options, c_text(run))
    if (is_given(staging)) call c_options_set_staging(options, c_text(staging))
    if (present(log)) call c_options_set_log_to_stderr(options, merge(1_c_int, 0_c_int, log))
  end function

  ! Namelists hold blanks for what nobody set.
  logical function is_given(text)
    character(len=*), intent(in), optional :: text
    is_given = .false.
    if (present(text)) is_given = text /= ''
  end function

  subroutine session_stream(self, name, stream, slots, policy, wait_max, keep, view, stat, errmsg, priority, deadline, rate, &
                            nodes_per_file, keep_abandoned)
    class(fb_session), intent(in) :: self
    character(len=*), intent(in) :: name
    type(fb_stream), intent(inout) :: stream
    integer, intent(in), optional :: slots, policy, keep, priority, nodes_per_file, keep_abandoned
    real(real64), intent(in), optional :: wait_max, deadline
    integer(int64), intent(in), optional :: rate
    logical, intent(in), optional :: view
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_stream_options), target :: options
    type(c_ptr) :: given
    type(c_error) :: error
    integer(c_int) :: status
    options = c_stream_options_default()
    given = c_null_ptr
    if (present(slots)) options%slots = slots
    if (present(policy)) options%policy = policy
    if (present(keep)) options%keep = keep
    if (present(keep_abandoned)) options%keep_abandoned = keep_abandoned
    if (present(wait_max)) options%wait_max_seconds = wait_max
    if (present(view)) options%view = merge(1, 0, view)
    if (present(priority)) options%priority = priority
    if (present(deadline)) options%deadline_seconds = deadline
    if (present(rate)) options%rate_bytes_per_second = rate
    if (present(nodes_per_file)) options%nodes_per_file = nodes_per_file
    if (present(slots) .or. present(policy) .or. present(keep) .or. present(wait_max) .or. present(view) .or. &
        present(priority) .or. present(deadline) .or. present(rate) .or. present(nodes_per_file) .or. &
        present(keep_abandoned)) given = c_loc(options)
    call c_stream_free(stream%handle)
    stream%handle = c_null_ptr
    status = c_stream_open(self%handle, c_text(name), given, stream%handle, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  logical function session_draining(self)
    class(fb_session), intent(in) :: self
    session_draining = c_draining(self%handle) /= 0
  end function

  function session_spool(self) result(path)
    class(fb_session), intent(in) :: self
    character(len=:), allocatable :: path
    path = text_at(c_spool(self%handle))
  end function

  subroutine session_job(self, job, stop_wanted, stat, errmsg)
    class(fb_session), intent(inout) :: self
    type(fb_job), intent(out) :: job
    logical, intent(in), optional :: stop_wanted
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    type(c_job), target :: told
    integer(c_int) :: status, wanted
    wanted = 0
    if (present(stop_wanted)) wanted = merge(1, 0, stop_wanted)
    job%seconds_left = ieee_value(job%seconds_left, ieee_positive_inf)
    job%reason = ''
    status = c_check_job(self%handle, wanted, told, error)
    if (status == fb_ok) then
      job%save = told%save /= 0
      job%stop = told%stop /= 0
      job%seconds_left = told%seconds_left
      job%reason = text_at(c_loc(told%reason))
    end if
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine session_close(self, stat, errmsg)
    class(fb_session), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status
    status = c_close(self%handle, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  ! ---- describing ----

  subroutine stream_replicated(self, name, value, unit, description, stat, errmsg, first_rank)
    class(fb_stream), intent(in) :: self
    character(len=*), intent(in) :: name
    type(fb_place), intent(in) :: value
    character(len=*), intent(in), optional :: unit, description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    logical, intent(in), optional :: first_rank
    type(c_error) :: error
    integer(c_int) :: status, of_first_rank
    of_first_rank = 0
    if (present(first_rank)) of_first_rank = merge(1, 0, first_rank)
    status = c_replicated(self%handle, c_text(name), value, c_text(unit), c_text(description), of_first_rank, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine array_int64(self, name, data, shape, start, halo_lo, halo_hi, unit, description, dimensions, partial, &
                         stat, errmsg)
    class(fb_stream), intent(in) :: self
    character(len=*), intent(in) :: name
    type(fb_place), intent(in) :: data
    integer(int64), intent(in) :: shape(:), start(:)
    integer(int64), intent(in), optional :: halo_lo(:), halo_hi(:)
    character(len=*), intent(in), optional :: unit, description, dimensions(:)
    logical, intent(in), optional :: partial
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status, may_have_holes
    integer(int64) :: lo(size(start)), hi(size(start))
    logical :: fits
    fits = size(start) == size(shape)
    call take_halo(halo_lo, lo, fits)
    call take_halo(halo_hi, hi, fits)
    if (.not. fits) then
      call refuse_lengths(name, stat, errmsg)
      return
    end if
    may_have_holes = 0
    if (present(partial)) may_have_holes = merge(1, 0, partial)
    status = c_array(self%handle, c_text(name), data, size(shape), shape, start, lo, hi, c_text(unit), &
                     c_text(description), lines(dimensions), may_have_holes, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine array_int32(self, name, data, shape, start, halo_lo, halo_hi, unit, description, dimensions, partial, &
                         stat, errmsg)
    class(fb_stream), intent(in) :: self
    character(len=*), intent(in) :: name
    type(fb_place), intent(in) :: data
    integer(int32), intent(in) :: shape(:), start(:)
    integer(int32), intent(in), optional :: halo_lo(:), halo_hi(:)
    character(len=*), intent(in), optional :: unit, description, dimensions(:)
    logical, intent(in), optional :: partial
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: lo(:), hi(:)  ! not allocated: not given
    if (present(halo_lo)) lo = int(halo_lo, int64)
    if (present(halo_hi)) hi = int(halo_hi, int64)
    call array_int64(self, name, data, int(shape, int64), int(start, int64), lo, hi, unit, description, dimensions, &
                     partial, stat, errmsg)
  end subroutine

  subroutine rebind_value(self, name, value, stat, errmsg)
    class(fb_stream), intent(in) :: self
    character(len=*), intent(in) :: name
    type(fb_place), intent(in) :: value
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status
    status = c_rebind_replicated(self%handle, c_text(name), value, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine rebind_int64(self, name, data, start, halo_lo, halo_hi, stat, errmsg, shape)
    class(fb_stream), intent(in) :: self
    character(len=*), intent(in) :: name
    type(fb_place), intent(in) :: data
    integer(int64), intent(in) :: start(:)
    integer(int64), intent(in), optional :: halo_lo(:), halo_hi(:), shape(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status
    integer(int64) :: lo(size(start)), hi(size(start)), global(size(start))
    logical :: fits
    fits = .true.
    global = 0
    if (present(shape)) fits = size(shape) == size(start)
    if (present(shape) .and. fits) global = shape
    call take_halo(halo_lo, lo, fits)
    call take_halo(halo_hi, hi, fits)
    if (.not. fits) then
      call refuse_lengths(name, stat, errmsg)
      return
    end if
    status = c_rebind_array(self%handle, c_text(name), data, size(start), start, lo, hi, &
                            merge(size(start), 0, present(shape)), global, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine rebind_int32(self, name, data, start, halo_lo, halo_hi, stat, errmsg, shape)
    class(fb_stream), intent(in) :: self
    character(len=*), intent(in) :: name
    type(fb_place), intent(in) :: data
    integer(int32), intent(in) :: start(:)
    integer(int32), intent(in), optional :: halo_lo(:), halo_hi(:), shape(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: lo(:), hi(:), global(:)  ! not allocated: not given
    if (present(halo_lo)) lo = int(halo_lo, int64)
    if (present(halo_hi)) hi = int(halo_hi, int64)
    if (present(shape)) global = int(shape, int64)
    call rebind_int64(self, name, data, int(start, int64), lo, hi, stat, errmsg, global)
  end subroutine

  subroutine stream_forget(self, name, stat, errmsg)
    class(fb_stream), intent(in) :: self
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status
    status = c_forget(self%handle, c_text(name), error)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine stream_particles(self, name, columns, particles, stat, errmsg)
    class(fb_stream), intent(in) :: self
    character(len=*), intent(in) :: name
    type(fb_column), intent(in) :: columns(:)
    type(fb_particles), intent(inout) :: particles
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type :: texts
      character(kind=c_char, len=:), allocatable :: name, unit, description
    end type
    type(texts), target :: kept(size(columns))
    type(c_attributes), target :: attributes(size(columns))
    type(c_column) :: described(size(columns))
    type(c_error) :: error
    integer(c_int) :: status
    integer :: i
    do i = 1, size(columns)
      kept(i)%name = c_text(columns(i)%name)
      kept(i)%unit = c_text(columns(i)%unit)
      kept(i)%description = c_text(columns(i)%description)
      attributes(i)%unit = c_loc(kept(i)%unit)
      attributes(i)%description = c_loc(kept(i)%description)
      described(i) = c_column(c_loc(kept(i)%name), columns(i)%type, c_loc(attributes(i)))
    end do
    call c_particles_free(particles%handle)
    particles%handle = c_null_ptr
    status = c_particles_describe(self%handle, c_text(name), size(columns, kind=c_size_t), described, &
                                  particles%handle, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine particles_bind(self, rows, columns, stat, errmsg)
    class(fb_particles), intent(in) :: self
    integer(int64), intent(in) :: rows
    type(fb_place), intent(in) :: columns(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status
    status = c_particles_bind(self%handle, rows, size(columns, kind=c_size_t), columns, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  ! ---- saving ----

  subroutine stream_prepare(self, stat, errmsg)
    class(fb_stream), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status
    status = c_prepare(self%handle, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine stream_save(self, step, time, saved, stat, errmsg)
    class(fb_stream), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in), optional :: time
    type(fb_saved), intent(out), optional :: saved
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(fb_saved) :: done
    type(c_error) :: error
    integer(c_int) :: status
    real(c_double) :: at
    at = 0
    if (present(time)) at = time
    status = c_save(self%handle, step, at, done, error)
    if (present(saved)) saved = done
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine stream_wait_committed(self, seconds, stat, errmsg)
    class(fb_stream), intent(in) :: self
    real(real64), intent(in) :: seconds
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status
    status = c_wait_committed(self%handle, seconds, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine stream_counters(self, counters, stat, errmsg)
    class(fb_stream), intent(in) :: self
    type(fb_counters), intent(out) :: counters
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status
    status = c_get_counters(self%handle, counters, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  ! ---- restarting ----

  subroutine stream_restore(self, restart, bind, stat, errmsg)
    class(fb_stream), intent(in) :: self
    type(fb_restart), intent(inout), optional :: restart
    procedure(fb_bind_rows), optional :: bind
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status
    type(t_binder), target :: binder
    type(c_funptr) :: call_back
    type(fb_restart) :: chosen
    call_back = c_null_funptr
    if (present(bind)) then
      binder%bind => bind
      call_back = c_funloc(bind_rows)
    end if
    status = c_restore(self%handle, call_back, c_loc(binder), chosen%handle, error)
    if (present(restart)) then
      call restart_final(restart)
      restart%handle = chosen%handle
      chosen%handle = c_null_ptr
    end if
    call finish(status, error, stat, errmsg)
  end subroutine

  ! The snapshot is lent for the call.
  function bind_rows(restart, context, error) bind(C) result(status)
    type(c_ptr), value :: restart, context
    type(c_error), intent(inout) :: error
    integer(c_int) :: status
    type(t_binder), pointer :: binder
    type(fb_restart) :: lent
    character(len=512) :: why
    integer :: stat
    call c_f_pointer(context, binder)
    lent%handle = restart
    stat = fb_ok
    why = ''
    call binder%bind(lent, stat, why)
    lent%handle = c_null_ptr
    status = int(stat, c_int)
    if (stat /= fb_ok) then
      error%text(1:len_trim(why) + 1) = transfer(trim(why)//c_null_char, [c_null_char])
    end if
  end function

  subroutine stream_newest(self, restart, stat, errmsg, below)
    class(fb_stream), intent(in) :: self
    type(fb_restart), intent(inout) :: restart
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), intent(in), optional :: below
    type(c_error) :: error
    integer(c_int) :: status
    integer(int64) :: bound
    bound = huge(bound)
    if (present(below)) bound = below
    call restart_final(restart)
    status = c_newest_below(self%handle, bound, restart%handle, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine stream_older(self, restart, stat, errmsg)
    class(fb_stream), intent(in) :: self
    type(fb_restart), intent(inout) :: restart
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status
    call restart_final(restart)
    status = c_older(self%handle, restart%handle, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  function stream_note(self, number) result(text)
    class(fb_stream), intent(in) :: self
    integer, intent(in) :: number
    character(len=:), allocatable :: text
    type(c_ptr) :: note
    text = ''
    if (number < 1) return
    note = c_note(self%handle, int(number - 1, c_size_t))
    if (c_associated(note)) text = text_at(note)
  end function

  pure logical function restart_found(self)
    class(fb_restart), intent(in) :: self
    restart_found = c_associated(self%handle)
  end function

  pure integer(int64) function restart_step(self)
    class(fb_restart), intent(in) :: self
    restart_step = -1
    if (self%found()) restart_step = c_restart_step(self%handle)
  end function

  pure real(real64) function restart_time(self)
    class(fb_restart), intent(in) :: self
    restart_time = 0
    if (self%found()) restart_time = c_restart_time(self%handle)
  end function

  pure logical function restart_same_ranks(self)
    class(fb_restart), intent(in) :: self
    restart_same_ranks = .false.
    if (self%found()) restart_same_ranks = c_restart_same_ranks(self%handle) /= 0
  end function

  function restart_source(self) result(text)
    class(fb_restart), intent(in) :: self
    character(len=:), allocatable :: text
    text = ''
    if (self%found()) text = text_at(c_restart_source(self%handle))
  end function

  pure integer(int64) function restart_rows(self, particles)
    class(fb_restart), intent(in) :: self
    type(fb_particles), intent(in) :: particles
    restart_rows = 0
    if (self%found() .and. c_associated(particles%handle)) &
      restart_rows = c_restart_rows(self%handle, particles%handle)
  end function

  subroutine restart_read(self, stat, errmsg)
    class(fb_restart), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_error) :: error
    integer(c_int) :: status
    status = c_read(self%handle, error)
    call finish(status, error, stat, errmsg)
  end subroutine

  subroutine restart_read_variable(self, name, stat, errmsg)
    class(fb_restart), intent(in) :: self
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: text
    type(c_error) :: error
    integer(c_int) :: status
    text = c_text(name)
    status = c_read_variables(self%handle, 1_c_size_t, [c_loc(text)], error)
    call finish(status, error, stat, errmsg)
  end subroutine

  ! ---- handles: freed once, never copied ----

  impure elemental subroutine session_final(self)
    type(fb_session), intent(inout) :: self
    call c_session_free(self%handle)
    self%handle = c_null_ptr
  end subroutine
  impure elemental subroutine stream_final(self)
    type(fb_stream), intent(inout) :: self
    call c_stream_free(self%handle)
    self%handle = c_null_ptr
  end subroutine
  impure elemental subroutine particles_final(self)
    type(fb_particles), intent(inout) :: self
    call c_particles_free(self%handle)
    self%handle = c_null_ptr
  end subroutine
  impure elemental subroutine restart_final(self)
    type(fb_restart), intent(inout) :: self
    call c_restart_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  subroutine session_assign(self, other)
    class(fb_session), intent(inout) :: self
    type(fb_session), intent(in) :: other
    call refuse_assignment('fb_session', c_associated(self%handle) .or. c_associated(other%handle))
  end subroutine
  subroutine stream_assign(self, other)
    class(fb_stream), intent(inout) :: self
    type(fb_stream), intent(in) :: other
    call refuse_assignment('fb_stream', c_associated(self%handle) .or. c_associated(other%handle))
  end subroutine
  subroutine particles_assign(self, other)
    class(fb_particles), intent(inout) :: self
    type(fb_particles), intent(in) :: other
    call refuse_assignment('fb_particles', c_associated(self%handle) .or. c_associated(other%handle))
  end subroutine
  subroutine restart_assign(self, other)
    class(fb_restart), intent(inout) :: self
    type(fb_restart), intent(in) :: other
    call refuse_assignment('fb_restart', c_associated(self%handle) .or. c_associated(other%handle))
  end subroutine

  subroutine refuse_assignment(what, holds)
    character(len=*), intent(in) :: what
    logical, intent(in) :: holds
    if (holds) error stop 'forebay: a handle of type '//what//' was assigned; pass it, or point to it.'
  end subroutine

end module forebay

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
  use, intrinsic :: iso_c_binding, only: c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use forebay_words
  use forebay_texts, only: fb_name_of, fb_version
  use forebay_dedicate, only: fb_dedicate
  implicit none
  private

  public :: fb_session, fb_stream, fb_particles, fb_restart, fb_bind_rows
  ! Of the modules above.
  public :: fb_version, fb_name_of, fb_dedicate
  public :: fb_job, fb_saved, fb_column, fb_place, fb_at, fb_string, fb_error_bytes
  public :: fb_ok, fb_retry, fb_full, fb_missing, fb_corrupt, fb_refused, fb_unsupported, fb_broken
  public :: fb_f32, fb_f64, fb_c64, fb_c128, fb_i8, fb_i16, fb_i32, fb_i64

  !> One application's use of one run. A handle: it cannot be assigned, and ends what it holds when it goes out of scope.
  type :: fb_session
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: open_alone, open_integer, open_f08
    !> call session%open([comm,] run [, staging] [, config] [, stat] [, errmsg] [, log])
    !> comm: an integer communicator or type(MPI_Comm), duplicated by the call; without it this process alone.
    !> run: the directory at the target. staging: a node-local directory. config: a TOML file, see
    !> docs/guide/configuration.md, which names no other run; it, then the defaults, say what is left out or blank. A rank that cannot read it is an
    !> error on every rank. log: .true. writes the log to standard error, on rank 0: what was chosen and passed over, and
    !> what a call waits for. Collective.
    generic :: open => open_alone, open_integer, open_f08
    !> call session%stream(name, stream [, options] [, stat] [, errmsg])
    !> options: text, what could stand below [streams.NAME] in the configuration, a line each:
    !> 'slots = 2'//new_line('a')//'file = "shared"'; what it does not name has its default. Without it, or blank: those
    !> of the configuration. Options that differ between ranks, and unknown ones, are refused on all. Collective.
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
    procedure, private :: array_int32, array_int64
    !> call stream%array(name, fb_at(data), shape, start [, halo_lo] [, halo_hi] [, unit] [, description] [, dimensions]
    !>                   [, partial] [, stat] [, errmsg])
    !> data: this rank's part with its halos, of rank 1 to 8; may be empty. shape: the global shape.
    !> start: the position of the first owned element (not of the halo) in the global array, from 1. halo_lo, halo_hi:
    !> elements of data around the owned ones; not saved, a restart fills those inside the global shape. dimensions: a
    !> name for each, first dimension first. partial: the boxes of all ranks need not fill the shape. shape, start and halos: default integers, or all of int64.
    generic :: array => array_int32, array_int64
    procedure, private :: rebind_value, rebind_int32, rebind_int64
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
    !> call stream%counter(name, value [, stat] [, errmsg]): one of the totals since the session was opened, real64, as
    !> 'blocked_seconds' (what saving has cost), 'newest_durable_step' (where a restart would begin; -1: nowhere) or
    !> 'aborts' (drains that ended with an error). stream%counters_text(): all of them, a line each.
    procedure :: counter => stream_counter
    procedure :: counters_text => stream_counters_text
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

  ! The bodies are in the submodules of session.f90, describe.f90, save.f90 and restart.f90.
  interface
    ! session.f90
    module subroutine open_alone(self, run, staging, config, stat, errmsg, log)
      class(fb_session), intent(inout) :: self
      character(len=*), intent(in) :: run
      character(len=*), intent(in), optional :: staging, config
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
      logical, intent(in), optional :: log
    end subroutine
    module subroutine open_integer(self, comm, run, staging, config, stat, errmsg, log)
      class(fb_session), intent(inout) :: self
      integer, intent(in) :: comm
      character(len=*), intent(in) :: run
      character(len=*), intent(in), optional :: staging, config
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
      logical, intent(in), optional :: log
    end subroutine
    module subroutine open_f08(self, comm, run, staging, config, stat, errmsg, log)
      use mpi_f08, only: MPI_Comm
      class(fb_session), intent(inout) :: self
      type(MPI_Comm), intent(in) :: comm
      character(len=*), intent(in) :: run
      character(len=*), intent(in), optional :: staging, config
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
      logical, intent(in), optional :: log
    end subroutine
    module subroutine session_stream(self, name, stream, options, stat, errmsg)
      class(fb_session), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_stream), intent(inout) :: stream
      character(len=*), intent(in), optional :: options
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module logical function session_draining(self)
      class(fb_session), intent(in) :: self
    end function
    module function session_spool(self) result(path)
      class(fb_session), intent(in) :: self
      character(len=:), allocatable :: path
    end function
    module subroutine session_job(self, job, stop_wanted, stat, errmsg)
      class(fb_session), intent(inout) :: self
      type(fb_job), intent(out) :: job
      logical, intent(in), optional :: stop_wanted
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine session_close(self, stat, errmsg)
      class(fb_session), intent(inout) :: self
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    impure elemental module subroutine session_final(self)
      type(fb_session), intent(inout) :: self
    end subroutine
    module subroutine session_assign(self, other)
      class(fb_session), intent(inout) :: self
      type(fb_session), intent(in) :: other
    end subroutine
    ! describe.f90
    module subroutine stream_replicated(self, name, value, unit, description, stat, errmsg, first_rank)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_place), intent(in) :: value
      character(len=*), intent(in), optional :: unit, description
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
      logical, intent(in), optional :: first_rank
    end subroutine
    module subroutine array_int64(self, name, data, shape, start, halo_lo, halo_hi, unit, description, dimensions, &
                                  partial, stat, errmsg)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_place), intent(in) :: data
      integer(int64), intent(in) :: shape(:), start(:)
      integer(int64), intent(in), optional :: halo_lo(:), halo_hi(:)
      character(len=*), intent(in), optional :: unit, description, dimensions(:)
      logical, intent(in), optional :: partial
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine array_int32(self, name, data, shape, start, halo_lo, halo_hi, unit, description, dimensions, &
                                  partial, stat, errmsg)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_place), intent(in) :: data
      integer(int32), intent(in) :: shape(:), start(:)
      integer(int32), intent(in), optional :: halo_lo(:), halo_hi(:)
      character(len=*), intent(in), optional :: unit, description, dimensions(:)
      logical, intent(in), optional :: partial
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine rebind_value(self, name, value, stat, errmsg)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_place), intent(in) :: value
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine rebind_int64(self, name, data, start, halo_lo, halo_hi, stat, errmsg, shape)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_place), intent(in) :: data
      integer(int64), intent(in) :: start(:)
      integer(int64), intent(in), optional :: halo_lo(:), halo_hi(:), shape(:)
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine rebind_int32(self, name, data, start, halo_lo, halo_hi, stat, errmsg, shape)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_place), intent(in) :: data
      integer(int32), intent(in) :: start(:)
      integer(int32), intent(in), optional :: halo_lo(:), halo_hi(:), shape(:)
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_forget(self, name, stat, errmsg)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_particles(self, name, columns, particles, stat, errmsg)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_column), intent(in) :: columns(:)
      type(fb_particles), intent(inout) :: particles
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine particles_bind(self, rows, columns, stat, errmsg)
      class(fb_particles), intent(in) :: self
      integer(int64), intent(in) :: rows
      type(fb_place), intent(in) :: columns(:)
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    impure elemental module subroutine particles_final(self)
      type(fb_particles), intent(inout) :: self
    end subroutine
    module subroutine particles_assign(self, other)
      class(fb_particles), intent(inout) :: self
      type(fb_particles), intent(in) :: other
    end subroutine
    ! save.f90
    module subroutine stream_prepare(self, stat, errmsg)
      class(fb_stream), intent(in) :: self
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_save(self, step, time, saved, stat, errmsg)
      class(fb_stream), intent(in) :: self
      integer(int64), intent(in) :: step
      real(real64), intent(in), optional :: time
      type(fb_saved), intent(out), optional :: saved
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_wait_committed(self, seconds, stat, errmsg)
      class(fb_stream), intent(in) :: self
      real(real64), intent(in) :: seconds
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_counter(self, name, value, stat, errmsg)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      real(real64), intent(out) :: value
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module function stream_counters_text(self) result(text)
      class(fb_stream), intent(in) :: self
      character(len=:), allocatable :: text
    end function
    impure elemental module subroutine stream_final(self)
      type(fb_stream), intent(inout) :: self
    end subroutine
    module subroutine stream_assign(self, other)
      class(fb_stream), intent(inout) :: self
      type(fb_stream), intent(in) :: other
    end subroutine
    ! restart.f90
    module subroutine stream_restore(self, restart, bind, stat, errmsg)
      class(fb_stream), intent(in) :: self
      type(fb_restart), intent(inout), optional :: restart
      procedure(fb_bind_rows), optional :: bind
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_newest(self, restart, stat, errmsg, below)
      class(fb_stream), intent(in) :: self
      type(fb_restart), intent(inout) :: restart
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
      integer(int64), intent(in), optional :: below
    end subroutine
    module subroutine stream_older(self, restart, stat, errmsg)
      class(fb_stream), intent(in) :: self
      type(fb_restart), intent(inout) :: restart
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module function stream_note(self, number) result(text)
      class(fb_stream), intent(in) :: self
      integer, intent(in) :: number
      character(len=:), allocatable :: text
    end function
    pure module logical function restart_found(self)
      class(fb_restart), intent(in) :: self
    end function
    pure module integer(int64) function restart_step(self)
      class(fb_restart), intent(in) :: self
    end function
    pure module real(real64) function restart_time(self)
      class(fb_restart), intent(in) :: self
    end function
    pure module logical function restart_same_ranks(self)
      class(fb_restart), intent(in) :: self
    end function
    module function restart_source(self) result(text)
      class(fb_restart), intent(in) :: self
      character(len=:), allocatable :: text
    end function
    pure module integer(int64) function restart_rows(self, particles)
      class(fb_restart), intent(in) :: self
      type(fb_particles), intent(in) :: particles
    end function
    module subroutine restart_read(self, stat, errmsg)
      class(fb_restart), intent(in) :: self
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine restart_read_variable(self, name, stat, errmsg)
      class(fb_restart), intent(in) :: self
      character(len=*), intent(in) :: name
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    impure elemental module subroutine restart_final(self)
      type(fb_restart), intent(inout) :: self
    end subroutine
    module subroutine restart_assign(self, other)
      class(fb_restart), intent(inout) :: self
      type(fb_restart), intent(in) :: other
    end subroutine
  end interface

end module forebay

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
  use forebay_words
  use forebay_texts, only: fb_name_of, fb_version
  use forebay_dedicate, only: fb_dedicate
  use forebay_streams, only: fb_stream, fb_particles, fb_restart, fb_bind_rows, open_stream
  implicit none
  private

  public :: fb_session
  ! Of the modules above.
  public :: fb_stream, fb_particles, fb_restart, fb_bind_rows
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
    !> docs/reference/configuration.md, which names no other run; it, then the defaults, say what is left out or blank. A rank that cannot read it is an
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

  ! The bodies are in the submodule of session.f90.
  interface
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
  end interface

end module forebay

!> Forebay for Fortran: save the state of a simulation for the price of one memory copy. Restart it on any number of
!> ranks.
!>
!> Order of calls:
!>   session%open -> session%stream -> replicated | array | particles -> [newest -> read] -> { bind -> save } ... ->
!>   session%close
!>
!> Ranks:  every rank calls open, stream, prepare, save, restore, newest, older, read, wait_committed, job and close, in
!>         the same order. All other calls are local.
!> Errors: as with ALLOCATE. With STAT= a call returns fb_ok or the kind of its error, and ERRMSG= gets the text.
!>         Without STAT= an error ends the program with the text. No call prints or stops otherwise.
!> Memory: pass data as fb_at(data). It has the address, type, rank, extents and strides, and copies nothing. Keep the
!>         data in place until the save or read returns that uses them. If they move, call rebind().
!> Order:  shapes, starts and halos are Fortran's, first dimension fastest. Readers in C order see them reversed.
module forebay
  use, intrinsic :: iso_c_binding, only: c_null_ptr, c_ptr
  use forebay_words
  use forebay_texts, only: fb_name_of, fb_version
  use forebay_dedicate, only: fb_dedicate
  use forebay_streams, only: fb_stream, fb_particles, fb_restart, fb_bind_rows, open_stream
  implicit none
  private

  public :: fb_session
  ! From the modules above.
  public :: fb_stream, fb_particles, fb_restart, fb_bind_rows
  public :: fb_version, fb_name_of, fb_dedicate
  public :: fb_job, fb_saved, fb_column, fb_place, fb_at, fb_string, fb_error_bytes
  public :: fb_ok, fb_retry, fb_full, fb_missing, fb_corrupt, fb_refused, fb_unsupported, fb_broken
  public :: fb_f32, fb_f64, fb_c64, fb_c128, fb_i8, fb_i16, fb_i32, fb_i64

  !> One application's use of one run. A handle: you cannot assign it, and it frees the session when it goes out of
  !> scope.
  type :: fb_session
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: open_alone, open_integer, open_f08
    !> Opens a session:
    !> call session%open([comm,] run [, staging] [, config] [, stat] [, errmsg] [, log])
    !>
    !> comm: an integer communicator or type(MPI_Comm), which the call duplicates. Without comm: only this process. run:
    !> the directory at the target. staging: a node-local directory. config: a TOML file, see
    !> docs/reference/configuration.md; it must not have another run. Arguments that are absent or blank come from
    !> config, then from the defaults. log: .true. writes the log to standard error of rank 0: the chosen and skipped
    !> snapshots, and the reasons for waits. If a rank cannot read its config, all ranks get an error. Collective.
    generic :: open => open_alone, open_integer, open_f08
    !> Opens a stream:
    !> call session%stream(name, stream [, options] [, stat] [, errmsg])
    !>
    !> options: text, one option a line, as below [streams.NAME] in the configuration:
    !> 'slots = 2'//new_line('a')//'file = "shared"'. Options that it leaves out have their defaults. If it is absent or
    !> blank, the options of the configuration count. Unknown options, and options that differ between ranks, are
    !> refused on all ranks. Collective.
    procedure :: stream => session_stream
    procedure :: draining => session_draining  !< true while this node's agent drains
    !> A directory of this node for small files of any program of the job. The agent packs them into a few files of the
    !> run. Write a file under a name that begins with a dot, then rename it.
    procedure :: spool => session_spool
    !> Asks at the end of a step if it is time to save or to end:
    !> call session%job(job [, stop_wanted] [, stat] [, errmsg])
    !>
    !> Reasons: the job ends, somebody ran `forebay stop`, or a rank passed stop_wanted=.true. Collective.
    procedure :: job => session_job
    procedure :: close => session_close        !< waits until everything is committed. Collective.
    procedure, private :: session_assign
    generic :: assignment(=) => session_assign
    final :: session_final
  end type

  ! The bodies are in the submodule in session.f90.
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

C     A code of fixed form that knows H5Part by H5PartF.h alone: writes
C     five particles and reads them back; H5Block's calls are refused.
      PROGRAM F77
      IMPLICIT NONE
      INCLUDE 'H5PartF.h'
      INTEGER*8 FILE, I, BACK(5), ID(5)
      REAL*8 X(5), FIELD(8), REST(5)
      INTEGER*8 H5PT_READSTEP
      FIELD(1) = 0
      DO 10 I = 1, 5
        X(I) = 0.5D0 * I
        ID(I) = 100 + I
   10 CONTINUE
      FILE = H5PT_OPENW('fortran77.h5part')
      IF (FILE .EQ. 0) STOP 1
      IF (H5PT_SETSTEP(FILE, 1_8) .NE. 0) STOP 2
      IF (H5PT_SETNPOINTS(FILE, 5_8) .NE. 0) STOP 3
      IF (H5PT_WRITEDATA_R8(FILE, 'x', X) .NE. 0) STOP 4
      IF (H5PT_WRITEDATA_R8(FILE, 'y', X) .NE. 0) STOP 4
      IF (H5PT_WRITEDATA_R8(FILE, 'z', X) .NE. 0) STOP 4
      IF (H5PT_WRITEDATA_R8(FILE, 'px', X) .NE. 0) STOP 4
      IF (H5PT_WRITEDATA_R8(FILE, 'py', X) .NE. 0) STOP 4
      IF (H5PT_WRITEDATA_R8(FILE, 'pz', X) .NE. 0) STOP 4
      IF (H5PT_WRITEDATA_I8(FILE, 'id', ID) .NE. 0) STOP 5
      IF (H5BL_DEFINE3DLAYOUT(FILE, 1_8, 2_8, 1_8, 2_8, 1_8, 2_8)
     +    .NE. -210) STOP 6
      IF (H5BL_3D_WRITE_SCALAR_FIELD_R8(FILE, 'e', FIELD)
     +    .NE. -210) STOP 7
      IF (H5BL_WRITEFIELDATTRIB_STRING(FILE, 'e', 'a', 'text')
     +    .NE. -210) STOP 8
      IF (H5PT_CLOSE(FILE) .NE. 0) STOP 9
      FILE = H5PT_OPENR('fortran77.h5part')
      IF (FILE .EQ. 0) STOP 10
      IF (H5PT_READSTEP(FILE, 1_8, X, REST, REST, REST, REST, REST,
     +    BACK) .NE. 0) STOP 11
      DO 20 I = 1, 5
        IF (NINT(2 * X(I)) .NE. I .OR. BACK(I) .NE. ID(I)) STOP 12
   20 CONTINUE
      IF (H5PT_CLOSE(FILE) .NE. 0) STOP 13
      END

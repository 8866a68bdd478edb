! // clang-format off
! The functions of H5Part for Fortran 77, by their types; for programs of
! fixed and of free form. Those of H5Block answer -210 (H5Block.h).

      INTEGER*8 h5pt_openr, h5pt_openw, h5pt_opena, h5pt_openr_par
      INTEGER*8 h5pt_openw_par, h5pt_opena_par, h5pt_openr_align
      INTEGER*8 h5pt_openw_align, h5pt_opena_align, h5pt_openr_par_align
      INTEGER*8 h5pt_openw_par_align, h5pt_opena_par_align, h5pt_close
      INTEGER*8 h5pt_set_verbosity_level, h5pt_setnpoints
      INTEGER*8 h5pt_setnpoints_strided, h5pt_setstep, h5pt_getnsteps
      INTEGER*8 h5pt_getndatasets, h5pt_getnpoints, h5pt_getdatasetname
      INTEGER*8 h5pt_setview, h5pt_setview_indices, h5pt_resetview
      INTEGER*8 h5pt_hasview, h5pt_getview, h5pt_writedata_r8
      INTEGER*8 h5pt_writedata_r4, h5pt_writedata_i8, h5pt_writedata_i4
      INTEGER*8 h5pt_readdata_r8, h5pt_readdata_r4, h5pt_readdata_i8
      INTEGER*8 h5pt_readdata_i4, h5pt_writefileattrib_string
      INTEGER*8 h5pt_writestepattrib_string, h5pt_readfileattrib_string
      INTEGER*8 h5pt_readstepattrib_string, h5pt_getnstepattribs
      INTEGER*8 h5pt_getnfileattribs, h5pt_getstepattribinfo
      INTEGER*8 h5pt_getfileattribinfo, h5pt_writefileattrib_r8
      INTEGER*8 h5pt_readfileattrib_r8, h5pt_writefileattrib_r4
      INTEGER*8 h5pt_readfileattrib_r4, h5pt_writefileattrib_i8
      INTEGER*8 h5pt_readfileattrib_i8, h5pt_writefileattrib_i4
      INTEGER*8 h5pt_readfileattrib_i4, h5pt_writestepattrib_r8
      INTEGER*8 h5pt_readstepattrib_r8, h5pt_writestepattrib_r4
      INTEGER*8 h5pt_readstepattrib_r4, h5pt_writestepattrib_i8
      INTEGER*8 h5pt_readstepattrib_i8, h5pt_writestepattrib_i4
      INTEGER*8 h5pt_readstepattrib_i4

      INTEGER*8 h5bl_define3dlayout, h5bl_define3dchunkdims
      INTEGER*8 h5bl_get_partition_of_proc
      INTEGER*8 h5bl_get_reduced_partition_of_proc, h5bl_get_proc_of
      INTEGER*8 h5bl_getnumfields, h5bl_getfieldinfo, h5bl_has_fielddata
      INTEGER*8 h5bl_writefieldattrib_string, h5bl_getnfieldattribs
      INTEGER*8 h5bl_getfieldattribinfo, h5bl_readfieldattrib_i8
      INTEGER*8 h5bl_readfieldattrib_r8, h5bl_readfieldattrib_string
      INTEGER*8 h5bl_3d_get_field_spacing, h5bl_3d_set_field_spacing
      INTEGER*8 h5bl_3d_get_field_origin, h5bl_3d_set_field_origin
      INTEGER*8 h5bl_3d_write_scalar_field_r8
      INTEGER*8 h5bl_3d_read_scalar_field_r8
      INTEGER*8 h5bl_3d_write_3dvector_field_r8
      INTEGER*8 h5bl_3d_read_3dvector_field_r8
      INTEGER*8 h5bl_3d_write_scalar_field_r4
      INTEGER*8 h5bl_3d_read_scalar_field_r4
      INTEGER*8 h5bl_3d_write_3dvector_field_r4
      INTEGER*8 h5bl_3d_read_3dvector_field_r4
      INTEGER*8 h5bl_3d_write_scalar_field_i8
      INTEGER*8 h5bl_3d_read_scalar_field_i8
      INTEGER*8 h5bl_3d_write_3dvector_field_i8
      INTEGER*8 h5bl_3d_read_3dvector_field_i8
      INTEGER*8 h5bl_3d_write_scalar_field_i4
      INTEGER*8 h5bl_3d_read_scalar_field_i4
      INTEGER*8 h5bl_3d_write_3dvector_field_i4
      INTEGER*8 h5bl_3d_read_3dvector_field_i4, h5bl_writefieldattrib_r8
      INTEGER*8 h5bl_writefieldattrib_r4, h5bl_writefieldattrib_i8
      INTEGER*8 h5bl_writefieldattrib_i4

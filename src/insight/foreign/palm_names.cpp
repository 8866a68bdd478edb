#include "insight/foreign/palm_names.hpp"

#include <string>

namespace forebay::foreign {

namespace {

constexpr PalmArray real_line{PalmArray::Kind::line, f64}, integer_line{PalmArray::Kind::line, i32},
    real_profiles{PalmArray::Kind::profiles, f64};
constexpr PalmArray integer_field{PalmArray::Kind::grid, i32}, real_surface{PalmArray::Kind::surface, f64};

// Reals that PALM 25.10 writes whole, by wrd_mpi_io_global_array.
constexpr std::string_view real_lines =
    " dpdxy dz dz_stretch_factor_array dz_stretch_level_end dz_stretch_level_start generator_speed "
    "generator_speed_f generator_speed_f_old generator_speed_old hom_u_m hom_v_m inflow_damping_factor "
    "mass_fracs_a mass_fracs_b particle_groups pitch_angle pitch_angle_old pt_init pt_vertical_gradient "
    "pt_vertical_gradient_level q_init q_vertical_gradient q_vertical_gradient_level ref_state reglim "
    "rotor_speed s_init s_vertical_gradient s_vertical_gradient_level sa_init sa_vertical_gradient "
    "sa_vertical_gradient_level spectrum_x spectrum_y subs_vertical_gradient subs_vertical_gradient_level "
    "time_domask torque_gen torque_gen_old tsc u_agl u_init ug ug_sum ug_vertical_gradient "
    "ug_vertical_gradient_level v_agl v_init vg vg_sum vg_vertical_gradient vg_vertical_gradient_level "
    "volume_flow_area volume_flow_initial w_agl wall_heatflux wall_humidityflux wall_scalarflux x_pos y_pos "
    "yaw_angle z_i z_pos ";

// Integers written whole, and random numbers of one or each process.
constexpr std::string_view integer_lines =
    " hor_index_bounds nbin niters_radx nmaxsend_radx nrecv_radx nsend_radx pt_vertical_gradient_level_ind "
    "q_vertical_gradient_level_ind random_iv random_iy s_vertical_gradient_level_ind "
    "subs_vertical_gradient_level_i u_max_ijk ug_vertical_gradient_level_ind v_max_ijk "
    "vg_vertical_gradient_level_ind w_max_ijk ";

// Surface data without '%' in their names.
constexpr std::string_view surface_names =
    " m_liq m_liq_usm m_soil swc t_green t_prev t_soil t_surf_green t_surf_wall t_surf_window t_surface t_wall "
    "t_window waste_heat ";

// `names` must have a blank on both sides of each name.
bool is_in(std::string_view names, std::string_view name) {
    if (name.find(' ') != std::string_view::npos) return false;
    return names.find(" " + std::string(name) + " ") != std::string_view::npos;
}

}  // namespace

std::optional<PalmArray> palm_array(std::string_view name) {
    if (is_in(real_lines, name)) return real_line;
    if (is_in(integer_lines, name) || name.starts_with("ns_on_file")) return integer_line;
    if (name == "hom" || name == "hom_sum" || name == "mean_inflow_profiles") return real_profiles;
    if (name == "id_random_array" || name == "id_counter" || name == "prt_count") return integer_field;
    // In the format mpi the component's number follows.
    if (name.starts_with("seq_random_array")) return integer_field;
    if (name == "prt_global_index") return PalmArray{PalmArray::Kind::grid, i64};
    if (name == "particles") return PalmArray{PalmArray::Kind::records, u8};
    if (is_in(surface_names, name)) return real_surface;
    // An average, maybe only zeros so far.
    if (name.find('%') == std::string_view::npos && name.ends_with("_av")) return PalmArray{PalmArray::Kind::grid, f64};
    // A component of a derived type belongs to a surface, or is an index field of surfaces.
    if (name.find('%') == std::string_view::npos) return std::nullopt;
    return name.ends_with("start_index") || name.ends_with("end_index") ? integer_field : real_surface;
}

std::optional<Extents> palm_shape(const PalmArray& array, std::string_view name, std::uint64_t bytes,
                                  std::uint64_t levels) {
    const auto elements = bytes / array.type.size_bytes;
    if (bytes == 0 || bytes % array.type.size_bytes != 0) return std::nullopt;
    if (array.kind != PalmArray::Kind::profiles) return Extents{elements};
    // hom has the heights of the levels beside each profile.
    const std::uint64_t parts = name == "hom" ? 2 : 1;
    if (elements / levels % parts != 0 || elements % levels != 0) return Extents{elements};
    return parts == 1 ? Extents{elements / levels, levels} : Extents{elements / levels / parts, parts, levels};
}

std::vector<std::string_view> palm_records(std::string_view name) {
    if (name == "random_iv") return {"random_iv", "random_iy"};
    if (name == "seq_random_array") return {"id_random_array", "seq_random_array"};
    return {name};
}

}  // namespace forebay::foreign

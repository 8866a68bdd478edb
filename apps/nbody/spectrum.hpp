// The power spectrum of the initial field: a power law bent by the cold dark matter transfer function of Bardeen, Bond,
// Kaiser and Szalay (1986, equation G3), with its amplitude set by sigma_8.

#pragma once

namespace nbody {

class Spectrum {
public:
    /// `shape` is Gamma, `sigma_8` the linear fluctuation at a = 1 in spheres of 8 Mpc/h.
    Spectrum(double index, double shape, double sigma_8);

    /// In (Mpc/h)^3, linear at a = 1, for k in h/Mpc.
    double power(double k) const;

private:
    double index_, shape_, amplitude_ = 1;
};

}  // namespace nbody

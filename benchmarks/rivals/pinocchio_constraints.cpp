// Pinocchio's constrained forward dynamics in a loop over states, for benchmarks/rivals/pinocchio_constraints.py, which
// compiles this file and calls it through ctypes. Headers only, as in pinocchio_loop.cpp.
//
// One Model, one Data for each algorithm, point constraints, states in vectors; the result is left in Data.

#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/constraints.hpp>
#include <pinocchio/algorithm/constrained-dynamics-derivatives.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>

namespace
{
  namespace pin = pinocchio;
  using Row = Eigen::Map<const Eigen::VectorXd>;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  enum Algorithm { CONSTRAINT_DYNAMICS, LCABA, DERIVATIVES, COUNT };

  struct Mechanism
  {
    EIGEN_MAKE_ALIGNED_OPERATOR_NEW
    pin::Model model;
    pin::Data data[COUNT];
    PINOCCHIO_ALIGNED_STD_VECTOR(pin::RigidConstraintModel) constraints;
    PINOCCHIO_ALIGNED_STD_VECTOR(pin::RigidConstraintData) found[COUNT];
    pin::ProximalSettings settings[COUNT];
    std::vector<Eigen::VectorXd> q, v, tau;
  };

  void run(Mechanism & m, int algorithm, std::size_t k)
  {
    pin::Data & data = m.data[algorithm];
    auto & found = m.found[algorithm];
    pin::ProximalSettings & settings = m.settings[algorithm];
    switch (algorithm)
    {
    case CONSTRAINT_DYNAMICS:
      pin::constraintDynamics(m.model, data, m.q[k], m.v[k], m.tau[k], m.constraints, found, settings);
      break;
    case LCABA: pin::lcaba(m.model, data, m.q[k], m.v[k], m.tau[k], m.constraints, found, settings); break;
    case DERIVATIVES:
      pin::constraintDynamics(m.model, data, m.q[k], m.v[k], m.tau[k], m.constraints, found, settings);
      pin::computeConstraintDynamicsDerivatives(m.model, data, m.constraints, found, settings);
      break;
    }
  }

  pin::SE3 placement(const double * x)
  {
    return pin::SE3(Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(x), Row(x + 9, 3));
  }

  double * put(double * out, const Eigen::Ref<const Eigen::MatrixXd> & matrix)
  {
    Eigen::Map<Rows>(out, matrix.rows(), matrix.cols()) = matrix;
    return out + matrix.size();
  }
} // namespace

extern "C"
{
  // Each constraint: two joints, and their placements as rows of the rotation and the position, 12 numbers each.
  void * robot_open(const char * file, long constraints, const long * joints, const double * placements, long count,
                    const double * q, const double * v, const double * tau)
  try
  {
    Mechanism * m = new Mechanism;
    m->model.loadFromText(file);
    for (long n = 0; n < constraints; ++n, joints += 2, placements += 24)
      m->constraints.emplace_back(pin::CONTACT_3D, m->model, static_cast<std::size_t>(joints[0]),
                                  placement(placements), static_cast<std::size_t>(joints[1]),
                                  placement(placements + 12), pin::LOCAL);
    for (int algorithm = 0; algorithm < COUNT; ++algorithm)
    {
      m->data[algorithm] = pin::Data(m->model);
      for (const auto & constraint : m->constraints) m->found[algorithm].push_back(constraint.createData());
      if (algorithm == LCABA) pin::computeJointMinimalOrdering(m->model, m->data[algorithm], m->constraints);
      else pin::initConstraintDynamics(m->model, m->data[algorithm], m->constraints, m->found[algorithm]);
    }
    const long nq = m->model.nq, nv = m->model.nv;
    for (long k = 0; k < count; ++k)
    {
      m->q.push_back(Row(q + k * nq, nq));
      m->v.push_back(Row(v + k * nv, nv));
      m->tau.push_back(Row(tau + k * nv, nv));
    }
    return m;
  }
  catch (...)
  {
    return nullptr;
  }

  void robot_close(void * robot) { delete static_cast<Mechanism *>(robot); }

  void robot_settings(void * robot, int algorithm, double accuracy, double mu, int iterations)
  {
    static_cast<Mechanism *>(robot)->settings[algorithm] = pin::ProximalSettings(accuracy, mu, iterations);
  }

  // All states, `repeats` times.
  void robot_run(void * robot, int algorithm, long repeats)
  {
    Mechanism & m = *static_cast<Mechanism *>(robot);
    for (long n = 0; n < repeats; ++n)
      for (std::size_t k = 0; k < m.q.size(); ++k) run(m, algorithm, k);
  }

  // The result of one state: accelerations, or those of accelerations and of multipliers by q, v and tau, by rows.
  void robot_result(void * robot, int algorithm, long state, double * out)
  {
    Mechanism & m = *static_cast<Mechanism *>(robot);
    run(m, algorithm, static_cast<std::size_t>(state));
    const pin::Data & data = m.data[algorithm];
    if (algorithm != DERIVATIVES) { put(out, data.ddq); return; }
    out = put(put(put(out, data.ddq_dq), data.ddq_dv), data.ddq_dtau);
    put(put(put(out, data.dlambda_dq), data.dlambda_dv), data.dlambda_dtau);
  }
}

// Pinocchio's algorithms in a loop over states, for benchmarks/rivals/pinocchio_cpp.py, which compiles this file and
// calls it through ctypes. Headers only: model and data are laid out as this file's own compiler flags demand.
//
// What Pinocchio's own benchmarks do: one Model, one Data, states in a vector of VectorXd, the result left in Data.

#include <fstream>
#include <string>
#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace
{
  namespace pin = pinocchio;
  using Row = Eigen::Map<const Eigen::VectorXd>;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  struct Robot
  {
    EIGEN_MAKE_ALIGNED_OPERATOR_NEW
    pin::Model model;
    pin::Data data;
    std::vector<Eigen::VectorXd> q, v, a, tau;
  };

  enum Algorithm { RNEA, CRBA, CRBA_WORLD, ABA, ABA_WORLD, RNEA_DERIVATIVES, ABA_DERIVATIVES, FRAMES };

  void run(Robot & r, int algorithm, std::size_t k)
  {
    switch (algorithm)
    {
    case RNEA: pin::rnea(r.model, r.data, r.q[k], r.v[k], r.a[k]); break;
    case CRBA: pin::crba(r.model, r.data, r.q[k], pin::Convention::LOCAL); break;
    case CRBA_WORLD: pin::crba(r.model, r.data, r.q[k], pin::Convention::WORLD); break;
    case ABA: pin::aba(r.model, r.data, r.q[k], r.v[k], r.tau[k], pin::Convention::LOCAL); break;
    case ABA_WORLD: pin::aba(r.model, r.data, r.q[k], r.v[k], r.tau[k], pin::Convention::WORLD); break;
    case RNEA_DERIVATIVES: pin::computeRNEADerivatives(r.model, r.data, r.q[k], r.v[k], r.a[k]); break;
    case ABA_DERIVATIVES: pin::computeABADerivatives(r.model, r.data, r.q[k], r.v[k], r.tau[k]); break;
    case FRAMES: pin::framesForwardKinematics(r.model, r.data, r.q[k]); break;
    }
  }

  double * put(double * out, const Eigen::Ref<const Eigen::MatrixXd> & matrix)
  {
    Eigen::Map<Rows>(out, matrix.rows(), matrix.cols()) = matrix;
    return out + matrix.size();
  }
} // namespace

extern "C"
{
  void * robot_open(const char * file, long count, const double * q, const double * v, const double * a,
                    const double * tau)
  try
  {
    Robot * r = new Robot;
    r->model.loadFromText(file);
    r->data = pin::Data(r->model);
    const long nq = r->model.nq, nv = r->model.nv;
    for (long k = 0; k < count; ++k)
    {
      r->q.push_back(Row(q + k * nq, nq));
      r->v.push_back(Row(v + k * nv, nv));
      r->a.push_back(Row(a + k * nv, nv));
      r->tau.push_back(Row(tau + k * nv, nv));
    }
    return r;
  }
  catch (...)
  {
    return nullptr;
  }

  void robot_close(void * robot) { delete static_cast<Robot *>(robot); }

  // All states, `repeats` times.
  void robot_run(void * robot, int algorithm, long repeats)
  {
    Robot & r = *static_cast<Robot *>(robot);
    for (long n = 0; n < repeats; ++n)
      for (std::size_t k = 0; k < r.q.size(); ++k) run(r, algorithm, k);
  }

  // The result of one state, matrices by rows; M and Minv have their upper triangles only, as Pinocchio leaves them.
  void robot_result(void * robot, int algorithm, long state, double * out)
  {
    Robot & r = *static_cast<Robot *>(robot);
    run(r, algorithm, static_cast<std::size_t>(state));
    switch (algorithm)
    {
    case RNEA: put(out, r.data.tau); break;
    case CRBA: case CRBA_WORLD: put(out, r.data.M); break;
    case ABA: case ABA_WORLD: put(out, r.data.ddq); break;
    case RNEA_DERIVATIVES: put(put(put(out, r.data.dtau_dq), r.data.dtau_dv), r.data.M); break;
    case ABA_DERIVATIVES: put(put(put(out, r.data.ddq_dq), r.data.ddq_dv), r.data.Minv); break;
    case FRAMES:
      for (const auto & pose : r.data.oMf) out = put(out, pose.toHomogeneousMatrix());
      break;
    }
  }
}

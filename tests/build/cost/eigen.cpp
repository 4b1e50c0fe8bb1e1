// What everyone pays who uses Eigen: the unit of the costs.
#include <Eigen/Core>

// The cost of Eigen alone, which is the unit of the others.
#include <Eigen/Core>

// Offence against the floors: a neighbour.
#include <specsample/shaping/top_p.hpp>

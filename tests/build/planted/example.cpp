// Offences: what an example must not need. The word "details" is none.
using specsample::detail::as_row;
using namespace specsample::detail;

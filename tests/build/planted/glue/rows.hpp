// A planted offence: what an example includes from a folder.
using Row = specsample::detail::Column<float>;

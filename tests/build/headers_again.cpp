// See headers.cpp.

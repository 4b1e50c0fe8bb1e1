// This file and headers_again.cpp have every header, by the precompiled one of this program. That they link is the
// test: a function that a header forgot to make `inline` is defined by both.
int main() {}

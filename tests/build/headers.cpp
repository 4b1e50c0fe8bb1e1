// The other sources of this program are generated, one per header. That it links is the test: a function that a
// header forgot to make `inline` is defined here by that header's own source and by its umbrella's.
int main() {}

// What run.cmake must refuse by name, and at the end a case that it must not.

int is_about_no_case = "text";

template <class T>
int read(T) {
    static_assert(sizeof(T) > 64, "planted: T must be large");
    return 0;
}

// case: compiles
// Nothing is wrong with it.
// expect: error: .*
namespace compiles {
int program() { return 0; }
}  // namespace compiles

// case: says_something_else
// Its only error is another.
// expect: error: .*planted: T must be small
namespace says_something_else {
int program() { return read('c'); }
}  // namespace says_something_else

// case: says_it_too_late
// What is expected is in its second error.
// expect: error: .*planted: T must be large
namespace says_it_too_late {
int program() { return sizeof(missing) + read(short(1)); }
}  // namespace says_it_too_late

// case: same_types
// What is expected has been said about the case of the same types.
// expect: error: .*planted: T must be large
namespace same_types {
int program() { return read('d'); }
}  // namespace same_types

// case: expects_nothing
// It does not say what it expects.
namespace expects_nothing {
int program() { return read(1); }
}  // namespace expects_nothing

// case: right
// It is refused at once, in these words.
// expect: error: .*planted: T must be large
namespace right {
int program() { return read(1L); }
}  // namespace right

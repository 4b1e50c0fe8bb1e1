// The function that the part without exceptions calls in place of a throw.
#pragma once

[[noreturn]] void failed_by_hook(const char* message);
#define SPECSAMPLE_FAIL(message) failed_by_hook(message)

// The interrupt key: the first asks the program to end, the second ends it.
#pragma once

#include <atomic>
#include <csignal>

inline std::atomic<bool>& interrupted() {
    static std::atomic<bool> flag = false;
    return flag;
}

inline void catch_interrupts() {
    interrupted() = false;  // made before a handler asks for it
    std::signal(SIGINT, [](int) {
        interrupted() = true;
        std::signal(SIGINT, SIG_DFL);
    });
}

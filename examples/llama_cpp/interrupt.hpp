// The interrupt key: pressed once, it asks the program to end; pressed twice, it ends it.
#pragma once

#include <atomic>
#include <csignal>

inline std::atomic<bool>& interrupted() {
    static std::atomic<bool> flag = false;
    return flag;
}

inline void catch_interrupts() {
    interrupted() = false;  // constructed before a handler reads it
    std::signal(SIGINT, [](int) {
        interrupted() = true;
        std::signal(SIGINT, SIG_DFL);
    });
}

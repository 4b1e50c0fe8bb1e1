// Writes texts with a model, many at a time, and stores what a drafter is trained on: for every token the model's state
// and its most likely next tokens.
#include <cstdio>
#include <exception>

#include "write_texts/arguments.hpp"
#include "write_texts/writer.hpp"

int main(int argc, char** argv) {
    try {
        const WriterArguments arguments = parse_writer({argv + 1, argv + argc});
        if (arguments.help) {
            std::fputs(writer_usage.data(), stdout);
        } else {
            Writer(arguments).run();
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "write_texts: %s\n", error.what());
        return 2;
    }
}

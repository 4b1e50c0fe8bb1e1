// A reader of command lines for the example programs: a program lists its options in a table.
//
//     struct Arguments { long lookahead = 4; std::string color = "auto"; bool json = false; };
//
//     constexpr command_line::Option<Arguments> options[]{
//         {"--lookahead -k", command_line::set<&Arguments::lookahead, 0>},         // at least 0
//         {"--color", command_line::choose<&Arguments::color, colors>},
//         {"--json", command_line::flag<&Arguments::json>},
//         {"", [](Arguments& arguments, auto, std::string_view word) { .. }}};     // a word that is no option
//     const auto arguments = command_line::parse(words, options);
//
// A value follows its option, or an equals sign behind a name with two dashes. What is wrong is a std::invalid_argument
// that names the option as it was written, its value, and what it must be.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace command_line {

[[noreturn]] inline void refuse(std::string_view option, std::string_view value, std::string_view must) {
    throw std::invalid_argument(std::string(option) + " is '" + std::string(value) + "', but must be " +
                                std::string(must));
}

/// The value of an option as a number; all of it must be one.
/// @param must   what it must be, for the message
template <class Number>
Number number(std::string_view option, std::string_view text, std::string_view must = "a number") {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) refuse(option, text, must);
    return value;
}

template <std::integral Number>
void require_at_least(std::type_identity_t<Number> least, std::string_view option, Number value) {
    if (value < least)
        throw std::invalid_argument(std::string(option) + " is " + std::to_string(value) + ", but must be at least " +
                                    std::to_string(least));
}

/// Numbers between commas.
template <class Number>
std::vector<Number> numbers(std::string_view option, std::string_view text) {
    std::vector<Number> result;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        result.push_back(number<Number>(option, text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return result;
}

/// The value that a list of pairs gives to a name.
template <class Value, std::size_t count>
Value named(std::string_view option, std::string_view text, const std::pair<std::string_view, Value> (&names)[count]) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
        if (names[i].first == text) return names[i].second;
        all += i == 0 ? "" : i + 1 == count ? " or " : ", ";
        all += names[i].first;
    }
    refuse(option, text, all);
}

/// Stores a value in a member: a number, at least `least` if that is given; a text; or numbers between commas.
template <auto member, auto... least>
inline constexpr auto set = [](auto& arguments, std::string_view option, std::string_view value) -> void {
    using Member = std::remove_reference_t<decltype(arguments.*member)>;
    if constexpr (std::is_arithmetic_v<Member>) {
        arguments.*member = number<Member>(option, value);
        (require_at_least<Member>(least, option, arguments.*member), ...);
    } else if constexpr (std::is_assignable_v<Member&, std::string_view>) {
        arguments.*member = value;
    } else {
        arguments.*member = numbers<typename Member::value_type>(option, value);
    }
};

/// Stores the value that a list of pairs gives to a name.
template <auto member, const auto& names>
inline constexpr auto choose = [](auto& arguments, std::string_view option, std::string_view value) -> void {
    arguments.*member = named(option, value, names);
};

/// Sets a member, for an option without a value.
template <auto member, bool value = true>
inline constexpr auto flag = [](auto& arguments) -> void { arguments.*member = value; };

// What several programs have: a lookahead that may be `auto`, the children at each depth of a tree, and colours.

inline constexpr auto set_lookahead = [](auto& arguments, std::string_view option, std::string_view value) -> void {
    arguments.adapts = value == "auto";
    arguments.lookahead = 8;  // at most
    if (arguments.adapts) return;
    arguments.lookahead = number<std::ptrdiff_t>(option, value);
    require_at_least(0, option, arguments.lookahead);
};

inline constexpr auto set_tree = [](auto& arguments, std::string_view option, std::string_view value) -> void {
    arguments.tree = numbers<std::ptrdiff_t>(option, value);
    for (const std::ptrdiff_t children : arguments.tree)
        if (children < 1)
            throw std::invalid_argument(std::string(option) + " has a depth of " + std::to_string(children) +
                                        " children, but each must have at least 1");
};

inline constexpr std::pair<std::string_view, std::string_view> colors[]{
    {"auto", "auto"}, {"always", "always"}, {"never", "never"}};

/// A row of the table: the names of an option with spaces between them, and what it does. The row without a name is for
/// words that are no options and do not begin with two dashes.
template <class Arguments>
struct Option {
    /// @param take   stores the value, take(arguments, option as written, value), or sets a flag, take(arguments); a
    ///               function object without state
    template <class Take>
    constexpr Option(std::string_view all_names, Take)
        : names(all_names),
          has_value(!std::invocable<Take, Arguments&>),
          apply([](Arguments& arguments, std::string_view option, std::string_view value) {
              if constexpr (std::invocable<Take, Arguments&>) {
                  Take{}(arguments);
              } else {
                  Take{}(arguments, option, value);
              }
          }) {}

    bool is(std::string_view word) const {
        for (std::string_view rest = names; !rest.empty();) {
            const std::size_t end = std::min(rest.find(' '), rest.size());
            if (rest.substr(0, end) == word) return true;
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        return false;
    }

    std::string_view names;
    bool has_value;
    void (*apply)(Arguments&, std::string_view option, std::string_view value);
};

/// @param hint   follows "there is no option .."
template <class Arguments, std::size_t count>
Arguments parse(std::span<char* const> words, const Option<Arguments> (&options)[count],
                std::string_view hint = "; see --help") {
    Arguments arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const bool is_long = word.starts_with("--");
        const std::size_t equals = is_long ? word.find('=') : word.npos;
        const std::string_view name = word.substr(0, equals);
        auto option = std::ranges::find_if(options, [&](const auto& each) { return each.is(name); });
        if (option == std::end(options)) {
            if (!is_long) option = std::ranges::find(options, "", &Option<Arguments>::names);
            if (option == std::end(options))
                throw std::invalid_argument("there is no option " + std::string(name) + std::string(hint));
            option->apply(arguments, word, word);
        } else if (equals != word.npos) {
            if (!option->has_value)
                throw std::invalid_argument(std::string(name) + " takes no value, but was given " + std::string(word));
            option->apply(arguments, name, word.substr(equals + 1));
        } else {
            if (option->has_value && ++i == words.size())
                throw std::invalid_argument(std::string(name) + " must be followed by a value");
            option->apply(arguments, name, words[i]);
        }
    }
    return arguments;
}

}  // namespace command_line
